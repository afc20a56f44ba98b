"""A submission as both compilers get it: what the host's preprocessor made of it, and the rules on that.

The emulator's compiler and the device's would each take other branches of an #if and have other macros. So
neither gets the file itself. In the text that both get no conditional and no macro of the file's own is left;
CUDA's own words stand in it as they were, and headers are included again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from tilestep.emulator.expansion import NEUTRAL, Expansion
from tilestep.frontends.cuda import c_string, with_text
from tilestep.frontends.edits import Edits
from tilestep.frontends.rules import STANDARD_HEADERS, include_name, word_faults
from tilestep.frontends.tokens import Directive, Lexed, lex
from tilestep.program import Program, SubmissionError

_ASSERT = frozenset({"cassert", "assert.h"})  # of the emulator's own, and a macro decides what it does
_EXPANDED = STANDARD_HEADERS - _ASSERT
# What stands for lines that the preprocessor would swallow, or would leave with a macro's name in them.
_INCLUDED = "#pragma tilestep_included "
_NO_ASSERT, _ASSERTS = "#pragma tilestep_no_assert", "#pragma tilestep_asserts"
_AROUND_ASSERT = {_NO_ASSERT: "#define NDEBUG", _ASSERTS: "#undef NDEBUG"}
_UNROLLED = "tilestep_unrolled "
_OURS = re.compile(r"#line \d+|#include <.*>|#pragma .*|#(define|undef) NDEBUG", re.DOTALL)
# Names of compilers and of CUDA's own headers: one that the emulator does not have may be a macro there.
_RESERVED = re.compile(
    r"__[A-Z]\w*|_\w+_H_?|_?(CCCL|LIBCUDACXX)_\w*|_ACRTIMP|CUDART[A-Z]+(_\w+)?|CUDART_(CB|DEVICE)"
    r"|EXCLUDE_FROM_RTC|CU_UUID_HAS_BEEN_DEFINED|NV_(IF|IS|ANY|NO|HAS|PROVIDES|DISPATCH|TARGET)_\w+"
)
_COMMON = frozenset({"__PRETTY_FUNCTION__", "__FUNCTION__"})


def to_expand(program: Program) -> str:
    """The submission for the preprocessor alone, without CUDA's headers: their macros are the builder's."""
    lexed = lex(program.text, program.file)
    named = c_string(program.file)
    edits = Edits(lexed.text, program.file)
    for directive in lexed.directives:
        if directive.name == "include":
            header = include_name(lexed, directive)
            lines = [f"{_INCLUDED}{header}"]
            if header in _EXPANDED:
                lines += [f"#include <{header}>"]
            elif header not in STANDARD_HEADERS:
                lines += [
                    f"#if __has_include(<{NEUTRAL}/{header}>)",
                    f"#include <{NEUTRAL}/{header}>",
                    "#endif",
                ]
            if header in _ASSERT:
                lines = ["#ifdef NDEBUG", _NO_ASSERT, "#else", _ASSERTS, "#endif", *lines]
            again = f"\n#line {directive.line} {named}\n"
            edits.replace(directive.start, directive.end, again.join([*lines, ""]))
        elif _unrolls_by_name(directive):
            edits.replace(directive.start, directive.tokens[0].end, _UNROLLED)
    return f"#line 1 {named}\n{edits.apply()}\n"


def _unrolls_by_name(directive: Directive) -> bool:
    """`#pragma unroll TILE`: only some preprocessors put a macro's value there."""
    tokens = directive.tokens
    return (
        directive.name == "pragma"
        and [token.text for token in tokens[:1]] == ["unroll"]
        and any(token.kind == "name" for token in tokens[1:])
    )


def from_expansion(expansion: Expansion, program: Program) -> Program:
    """The submission as both compilers get it. Raises SubmissionError for a line that breaks a rule."""
    lexed = lex(_text(expansion), program.file, renumbered=True)
    faults = [*_directive_faults(lexed), *word_faults(_without_lines(lexed))]
    faults += _foreign_names(lexed, expansion.macros)
    faults += [
        (line, f"the file {Path(path).name} is included in a way that hides it; write #include <...>")
        for line, path in expansion.entered
        if not path.endswith(tuple(f"/{name}" for name in STANDARD_HEADERS)) and NEUTRAL not in path
    ]
    if faults:
        line, says = min(faults)
        raise SubmissionError(says, file=program.file, line=line)
    return with_text(program, lexed)


def _text(expansion: Expansion) -> str:
    """The expansion as a file: headers included again, and a #line wherever a number does not follow.

    A line that the preprocessor cut in pieces, as it does around a macro of the system's, is whole again.
    """
    lines: list[list[str]] = [[""]]
    current = 0  # the number of the last of them
    for number, piece in zip(expansion.lines, expansion.text.split("\n"), strict=True):
        line = _restored(piece)
        if number == current and "#" not in (line[:1], lines[-1][0][:1]):
            lines[-1].append(line.strip())
        elif number > current or line.strip():
            lines += [] if number == current + 1 else [[f"#line {number}"]]
            lines.append([line])
            current = number
    return "\n".join(" ".join(filter(None, pieces)) for pieces in lines[1:])


def _restored(line: str) -> str:
    if line.startswith(_INCLUDED):
        return f"#include <{line.removeprefix(_INCLUDED).strip()}>"
    if line in _AROUND_ASSERT:
        return _AROUND_ASSERT[line]
    return f"#pragma unroll {line.removeprefix(_UNROLLED)}" if line.startswith(_UNROLLED) else line


def _without_lines(lexed: Lexed) -> Lexed:
    return replace(lexed, directives=tuple(d for d in lexed.directives if d.name != "line"))


def _directive_faults(lexed: Lexed) -> Iterator[tuple[int, str]]:
    """A # that a macro brought would be a preprocessor line for the next one that reads the text."""
    for directive in lexed.directives:
        if not _OURS.fullmatch(lexed.text, directive.start, directive.end):
            yield directive.line, "a macro brings a # to the start of a line; write it there"


def _foreign_names(lexed: Lexed, known: Iterable[str]) -> Iterator[tuple[int, str]]:
    allowed = {*known, *_COMMON}
    for tokens in (lexed.tokens, *(d.tokens for d in lexed.directives)):
        for token in tokens:
            if token.kind == "name" and _RESERVED.fullmatch(token.text) and token.text not in allowed:
                says = f"{token.text}: such a name is for compilers, and a macro of one of them may have it"
                yield token.line, says
