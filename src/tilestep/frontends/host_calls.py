"""Calls that reach past the launch plan: files, processes, threads, clocks, sockets, the environment.

Here they are named with their line, before anything runs. What hides behind a macro or a pointer is found in
the object file, and the sandbox stops the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilestep.emulator.system_calls import DEEDS
from tilestep.frontends.structure import STATEMENT_WORDS, Structure
from tilestep.frontends.tokens import Lexed, Token, words
from tilestep.program import SubmissionError

_CALLS = {name: deed for deed, names in DEEDS.items() for name in names.split()}
# Those that the standard library has, too: std::remove is an algorithm, std::fopen opens a file.
_STANDARD_CALLS = words("fopen freopen tmpfile rename system raise time timespec_get getenv signal atexit")
_STANDARD_NAMES = {
    **dict.fromkeys(words("thread jthread async packaged_task this_thread"), "starts threads"),
    **dict.fromkeys(words("ifstream ofstream fstream filebuf filesystem"), "opens files"),
    "chrono": "reads a clock",
    "random_device": "makes a run unrepeatable",
}


def check_host_calls(lexed: Lexed, structure: Structure, file: str) -> None:
    """Raise SubmissionError at the first such call that is not to a name of the file's own."""
    own = {function.name.text for function in structure.functions} | {macro.name for macro in lexed.macros()}
    own |= _declared_names(lexed.tokens)
    found: list[tuple[int, str]] = []
    for tokens in (lexed.tokens, *(macro.body for macro in lexed.macros())):
        for index, token in enumerate(tokens):
            if token.kind == "name" and (says := _fault(tokens, index, own)):
                found.append((token.line, says))
                break
    if found:
        line, says = min(found)
        raise SubmissionError(says, file=file, line=line)


def _fault(tokens: Sequence[Token], index: int, own: set[str]) -> str | None:
    name = tokens[index].text
    before = tokens[index - 1] if index else None
    following = tokens[index + 1].text if index + 1 < len(tokens) else ""
    standard = before is not None and before.text == "::" and index >= 2 and tokens[index - 2].text == "std"
    if standard and name in _STANDARD_NAMES and following != "=":
        return f"std::{name} {_STANDARD_NAMES[name]}, and a seam only launches kernels"
    if name not in _CALLS or following != "(" or (name in own and not standard):
        return None
    if standard:
        return (
            f"std::{name} {_CALLS[name]}, and a seam only launches kernels"
            if name in _STANDARD_CALLS
            else None
        )
    if before is not None:
        if before.text in (".", "->") or (before.kind == "name" and before.text not in STATEMENT_WORDS):
            return None  # a member, or a declaration
        left = tokens[index - 2] if before.text == "::" and index >= 2 else None
        if left is not None and left.kind == "name" and left.text not in STATEMENT_WORDS:
            return None  # of another namespace or class
    return f"{name} {_CALLS[name]}, and a seam only launches kernels"


def _declared_names(tokens: Sequence[Token]) -> set[str]:
    """Names that a variable or parameter of the file has: `auto open = ...`, `float time`."""
    names: set[str] = set()
    for index, token in enumerate(tokens[1:-1], start=1):
        if token.kind != "name" or token.text not in _CALLS:
            continue
        before = tokens[index - 1]
        typed = before.text in ("*", "&") or (before.kind == "name" and before.text not in STATEMENT_WORDS)
        if typed and tokens[index + 1].text in ("=", ";", ",", ")", "[", "{", ":"):
            names.add(token.text)
    return names
