"""What the preprocessor makes of a file's own lines, so that a rule sees what the compiler sees."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

NEUTRAL = "tilestep_neutral"  # the folder of headers whose macros expand to themselves
_MARKER = re.compile(r'^# (?P<line>\d+) "(?P<file>(?:[^"\\]|\\.)*)"(?P<flags>[ \d]*)$')
_DEFINITION = re.compile(r"^#define (?P<name>\w+)(?P<parameters>\([^)]*\))?(?: (?P<body>.*))?$")
_SPELLED = re.compile(r"(?<!\\)\\U([0-9a-f]{8})")  # as g++ writes a letter of a name that is not ASCII
_ENTERED = "1"  # the flag of a line marker where an included file begins


@dataclass(frozen=True)
class Expansion:
    """The text of a file with its macros replaced; `lines[i]` is the number of the i-th line in the file.

    `entered` are the files that the file itself includes, each with the line of its #include. `macros` are
    the names of our headers' macros, which still stand in the text.
    """

    text: str
    lines: tuple[int, ...]
    entered: tuple[tuple[int, str], ...] = ()
    macros: frozenset[str] = frozenset()

    def line(self, of: int) -> int:
        """The line in the file of a line (from 1) of `text`."""
        return self.lines[of - 1] if 0 < of <= len(self.lines) else 1


def neutral_macros(without: str, with_ours: str) -> str:
    """Definitions for the macros that our headers add, from what `-dM` prints without and with them.

    Each stays defined, for an #ifdef, and numbers keep their value; but a macro expands to its own name, so
    that nothing of our own stands among a file's words.
    """
    known = set(without.splitlines())
    lines = []
    for line in with_ours.splitlines():
        found = _DEFINITION.match(line)
        if found and line not in known:
            body = (found["body"] or "").strip()
            value = body if not found["parameters"] and re.fullmatch(r"\d\w*", body) else found["name"]
            lines.append(f"#undef {found['name']}\n#define {found['name']} {value}\n")
    return "".join(lines)


def defined_names(header: str) -> frozenset[str]:
    """The macros that a header of `neutral_macros` defines."""
    return frozenset(found["name"] for line in header.splitlines() if (found := _DEFINITION.match(line)))


def own_lines(output: str, file: str) -> Expansion:
    """The lines of `file`, as its #line names it, in what `-E` printed."""
    kept: list[str] = []
    numbers: list[int] = []
    entered: list[tuple[int, str]] = []
    current, number = "", 1
    for line in output.split("\n"):
        marker = _MARKER.match(line)
        if marker is None:
            if current == file:
                kept.append(line)
                numbers.append(number)
            number += 1
            continue
        into = re.sub(r"\\(.)", r"\1", marker["file"])
        if current == file and into != file and _ENTERED in marker["flags"].split():
            entered.append((number, into))
        current, number = into, int(marker["line"])
    text = _SPELLED.sub(_letter, "\n".join(kept))
    return Expansion(text, tuple(numbers), tuple(entered))


def _letter(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    letter = chr(code) if code <= sys.maxunicode else ""
    return letter if letter.isidentifier() and not letter.isascii() else found[0]
