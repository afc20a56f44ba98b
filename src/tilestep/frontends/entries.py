"""Every kernel begins by telling its arguments: a macro that is empty in all builds but the recording one."""

from __future__ import annotations

from collections.abc import Sequence

from tilestep.frontends.declarations import parse, split_commas
from tilestep.frontends.edits import Edits
from tilestep.frontends.structure import Structure, name_position
from tilestep.frontends.tokens import Lexed, Macro, Token, closing


def mark_entries(lexed: Lexed, structure: Structure, edits: Edits) -> None:
    """Put the macro at the start of each kernel's body; a parameter without a name is given one.

    A kernel that a macro makes is marked in the macro's body.
    """
    tokens = lexed.tokens
    qualifiers = {"__global__", *(m.name for m in lexed.macros() if _is_qualifier(m))}
    for function in structure.functions:
        if any(token.text in qualifiers for token in function.head):
            _mark(function.parameters, tokens[function.scope.opening], edits)
    for macro in lexed.macros():
        for index, token in enumerate(macro.body):
            if token.text == "__global__":
                _mark_in_macro(macro.body[index:], edits)


def _is_qualifier(macro: Macro) -> bool:
    """`#define KERNEL __global__ void`, not a macro that makes a kernel with its body."""
    texts = {token.text for token in macro.body}
    return "__global__" in texts and "{" not in texts


def _mark_in_macro(tokens: Sequence[Token], edits: Edits) -> None:
    end = next((at for at, token in enumerate(tokens) if token.text in (";", "{")), None)
    if end is None or tokens[end].text == ";":
        return  # a prototype, or a qualifier alone
    at = name_position(tokens[:end])
    if at is not None:
        _mark(tokens[at + 2 : closing(tokens, at + 1)], tokens[end], edits)


def _mark(parameters: Sequence[Token], opening: Token, edits: Edits) -> None:
    names = []
    for number, part in enumerate(split_commas(parameters)):
        if not part or [token.text for token in part] == ["void"]:
            continue
        names.append(_name(part) or _give_name(part, f"tilestep_u{number}", edits))
    edits.insert(opening.end, f" TILESTEP_ENTER({', '.join(names)})")


def _name(parameter: Sequence[Token]) -> str:
    """How a parameter is called; "" if it is not. A pack is expanded."""
    declared = parse([token for token in parameter if token.text != "..."])
    if declared is None or len(declared.declarators) != 1:
        return ""
    return _as_argument(declared.declarators[0].name.text, parameter)


def _give_name(parameter: Sequence[Token], name: str, edits: Edits) -> str:
    """Names a parameter of a plain type, such as `int` or `const float* = nullptr`."""
    end = next((at for at, token in enumerate(parameter) if token.text == "="), len(parameter))
    edits.insert(parameter[end - 1].end, f" {name}")
    return _as_argument(name, parameter)


def _as_argument(name: str, parameter: Sequence[Token]) -> str:
    pack = any(token.text == "..." for token in parameter)
    return f"{name}..." if pack else name
