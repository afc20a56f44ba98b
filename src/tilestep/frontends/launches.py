"""`kernel<<<grid, block>>>(arguments)` becomes a call that any C++ compiler takes.

The kernel is wrapped in a generic lambda, because the address of an overloaded or deduced template cannot be
taken. An expression with a value (`table[i]`, a member, a function pointer) is evaluated at the launch, as
CUDA does it: the kernel runs later, when the host's variables may be gone. Only the text around the
expressions changes, so every one of them keeps its line and its meaning.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilestep.frontends.declarations import qualified_name, split_commas
from tilestep.frontends.edits import Edits
from tilestep.frontends.structure import STATEMENT_WORDS
from tilestep.frontends.tokens import Macro, Token, closing, flatten
from tilestep.program import SubmissionError


def rewrite_launches(
    tokens: Sequence[Token], edits: Edits, kernels: frozenset[str], macro: Macro | None = None
) -> int:
    """Rewrite the launches in a run of tokens (the file's, or a macro's body); how many there are.

    `kernels` are the names of the file's __global__ functions.
    """
    count = 0
    for index, token in enumerate(tokens):
        if token.text != "<<<" or token.kind != "punct":
            continue
        if index and tokens[index - 1].text == "operator":
            continue  # operator<< <T>, spelled without the space
        begin = _kernel_begin(tokens, index)
        end = _chevrons_end(tokens, index, in_macro=macro is not None)
        if begin == index or end is None:
            what = (
                "a launch with no kernel in front of its <<<"
                if begin == index
                else "a launch with no closing >>>"
            )
            raise SubmissionError(what, file=edits.file, line=token.line, outcome="broken")
        if end == index + 1:
            says = "a launch needs a grid and a block: kernel<<<grid, block>>>(...)"
            raise SubmissionError(says, file=edits.file, line=token.line, outcome="broken")
        line = str(tokens[begin].line) if macro is None else "__LINE__"
        text = name_literal(tokens[begin:index], macro)
        value = macro is None and _has_value(tokens[begin:index], kernels)
        capture, called = ("tilestep_k = ", "](auto... tilestep_a) { tilestep_k") if value else ("", "")
        before = capture if value else "=](auto... tilestep_a) { "
        edits.insert(tokens[begin].start, f"::tilestep::configure({line}, {text}, [{before}")
        edits.replace(token.start, token.end, f"{called}(tilestep_a...); }}, ")
        edits.replace(tokens[end].start, tokens[end + 2].end, ")")
        _spell_null_pointers(tokens, end + 3, edits)
        count += 1
    return count


def _has_value(tokens: Sequence[Token], kernels: frozenset[str]) -> bool:
    """Can the expression be kept in a variable: is it anything but the name of a function or a template?"""
    while len(tokens) > 2 and tokens[0].text == "(" and closing(tokens, 0) == len(tokens) - 1:
        tokens = tokens[1:-1]
    end = qualified_name(tokens, 0)
    if end < len(tokens):
        return True
    # A lone name that is no kernel of the file is a function pointer: a variable, a parameter, a member.
    return len(tokens) == 1 and tokens[0].text not in kernels


def name_literal(tokens: Sequence[Token], macro: Macro | None) -> str:
    """The tokens as a C string literal; a macro's parameters in it stand for what they are given."""
    if macro is None or not macro.parameters:
        return _quoted(flatten(tokens))
    parts: list[str] = []
    plain: list[Token] = []
    for token in tokens:
        if token.kind == "name" and token.text in macro.parameters:
            if plain:
                parts.append(_quoted(flatten(plain)))
                plain = []
            parts.append(f"#{token.text}")
        elif token.text != "##":
            plain.append(token)
    if plain:
        parts.append(_quoted(flatten(plain)))
    return " ".join(parts)


def _quoted(text: str) -> str:
    inside = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{inside}"'


def _kernel_begin(tokens: Sequence[Token], chevrons: int) -> int:
    """The first token of the expression in front of `<<<`: `ns::k<T>`, `table[i]`, `(*f)`, `object.k`."""
    at = chevrons
    while True:
        start = _operand_begin(tokens, at)
        if start is None:
            return at
        at = start
        before = tokens[at - 1] if at else None
        if before is None:
            return at
        if before.text in ("template", "##") and at >= 2:
            at -= 1
            before = tokens[at - 1]
        if before.text == "::":
            at -= 1
            left = tokens[at - 1] if at else None
            if left is None or not (
                left.text == ">" or (left.kind == "name" and left.text not in STATEMENT_WORDS)
            ):
                return at  # `::k`, from the global namespace
        elif before.text in (".", "->", "##"):
            at -= 1
        else:
            return at


def _operand_begin(tokens: Sequence[Token], end: int) -> int | None:
    """The first token of the operand in front of `end`: a name with its calls, indices and template list."""
    at = end
    while at > 0:
        last = tokens[at - 1]
        if last.kind == "name":
            return None if last.text in STATEMENT_WORDS else at - 1
        if last.text not in (")", "]", ">"):
            return None
        opening = _opening_of(tokens, at - 1)
        if opening is None:
            return None
        before = tokens[opening - 1] if opening else None
        if last.text == ")" and not _can_be_called(tokens, opening):
            return opening  # a parenthesised expression, not a call
        if before is None:
            return None
        at = opening
    return None


def _can_be_called(tokens: Sequence[Token], opening: int) -> bool:
    if opening == 0:
        return False
    before = tokens[opening - 1]
    if before.kind == "name":
        return before.text not in STATEMENT_WORDS and before.text not in ("if", "while", "for", "switch")
    if before.text == ")":
        # `if (ready) (*kernel)<<<...`: the parenthesis on the left belongs to a statement.
        left = _opening_of(tokens, opening - 1)
        return left is not None and _can_be_called(tokens, left)
    return before.text in ("]", ">")


def _opening_of(tokens: Sequence[Token], last: int) -> int | None:
    """The bracket that the one at `last` closes. Angles do not pair across parentheses."""
    pairs = {")": "(", "]": "[", "}": "{"}
    stack: list[str] = []
    for index in range(last, -1, -1):
        text = tokens[index].text
        if text in pairs:
            stack.append(pairs[text])
        elif text == ">" and (not stack or stack[-1] == "<"):
            stack.append("<")
        elif text in ("(", "[", "{") or (text == "<" and stack[-1] == "<"):
            if stack[-1] != text:
                return None
            stack.pop()
        elif text == ";" and stack[-1] == "<":
            return None
        if not stack:
            return index
    return None


def _chevrons_end(tokens: Sequence[Token], opening: int, *, in_macro: bool) -> int | None:
    """The first `>` of the `>>>` that closes a launch. Of `f<1>>>>(x)` it is the last three."""
    index = opening + 1
    while index < len(tokens):
        text = tokens[index].text
        if text in ("(", "[", "{"):
            index = closing(tokens, index)
        elif text in (")", "]", "}", ";"):
            return None
        elif text == ">":
            last = index
            while (
                last + 1 < len(tokens)
                and tokens[last + 1].text == ">" == tokens[last].text
                and (tokens[last + 1].start == tokens[last].end)
            ):
                last += 1
            behind = tokens[last + 1].text if last + 1 < len(tokens) else None
            if last - index >= 2 and (
                behind == "(" or (in_macro and (behind is None or last + 1 < len(tokens)))
            ):
                return last - 2
            index = last
        index += 1
    return None


def _spell_null_pointers(tokens: Sequence[Token], opening: int, edits: Edits) -> None:
    """`NULL` as an argument is an integer once the lambda has deduced its type; nullptr stays a pointer."""
    if opening < len(tokens) and tokens[opening].text == "(":
        for argument in split_commas(tokens[opening + 1 : closing(tokens, opening)]):
            if len(argument) == 1 and argument[0].text in ("NULL", "__null"):
                edits.replace(argument[0].start, argument[0].end, "nullptr")
