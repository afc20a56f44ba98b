"""`__device__` and `__constant__` variables stay plain variables, and are announced to the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from tilestep.frontends.declarations import parse
from tilestep.frontends.edits import Edits
from tilestep.frontends.shared import statement_begin
from tilestep.frontends.structure import Structure
from tilestep.frontends.tokens import Lexed, Token, closing
from tilestep.program import SubmissionError

_SPACES = frozenset({"__device__", "__constant__", "__managed__"})
_STORAGE = _SPACES | {
    "static",
    "extern",
    "inline",
    "constexpr",
    "__host__",
    "__forceinline__",
    "__noinline__",
}


def rewrite_variables(lexed: Lexed, structure: Structure, edits: Edits) -> None:
    """Put a registrar behind every definition of a device variable at namespace scope."""
    numbers = count(1)
    tokens = lexed.tokens
    done = -1
    for index, token in enumerate(tokens):
        if index <= done or token.text not in _SPACES or not structure.scope_of[index].at_namespace_level:
            continue
        begin = statement_begin(tokens, index)
        end = _variable_end(tokens, index)
        if end is None:
            continue
        done = end
        words = tokens[begin:end]
        texts = {word.text for word in words}
        declared = parse([word for word in words if word.text not in _STORAGE and word.kind != "string"])
        if declared is None or any(d.function and not d.grouped for d in declared.declarators):
            continue  # a prototype, or something for the compiler to judge
        if "__managed__" in texts:
            says = "managed memory is not available: a seam works on the pointers that it is given"
            raise SubmissionError(says, file=edits.file, line=token.line)
        if "template" in texts or "using" in texts or "typedef" in texts:
            continue
        if "extern" in texts and not any(d.initialised for d in declared.declarators):
            continue
        constant = "true" if "__constant__" in texts else "false"
        made = "".join(_registrar(next(numbers), d.name, constant) for d in declared.declarators)
        edits.insert(tokens[end].end, made)


def _registrar(number: int, name: Token, constant: str) -> str:
    arguments = f'"{name.text}", {name.line}, (void*)&{name.text}, sizeof {name.text}, {constant}'
    return f" static ::tilestep::VariableRegistrar tilestep_v{number}{{{arguments}}};"


def _variable_end(tokens: Sequence[Token], index: int) -> int | None:
    """The `;` of a variable's definition; None if it is a function's."""
    at = index
    while at < len(tokens):
        text = tokens[at].text
        if text == ";":
            return at
        if text == "{":
            before = tokens[at - 1]
            if before.text == ")" or before.text in ("const", "noexcept", "override"):
                return None
        if text in ("(", "[", "{"):
            at = closing(tokens, at)
        elif text in ("}", ")"):
            return None
        at += 1
    return None
