"""Turns program counters of an executable into lines of the submission, through its DWARF tables.

A counter in an inlined function of a header belongs to the line of the submission that called it: the
innermost frame that lies in the submission's own file.
"""

from __future__ import annotations

import bisect
import functools
import os.path
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from elftools.common.exceptions import ELFError
from elftools.dwarf.ranges import BaseAddressEntry
from elftools.elf.elffile import ELFFile

from tilestep.emulator.symbols import anchor_of


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int


@dataclass
class _Row:
    address: int
    end: int
    file: str
    line: int


@dataclass
class _Call:
    """One inlined call: where its body lies, where it was called from, and how deep it is nested."""

    depth: int
    file: str
    line: int
    ranges: list[tuple[int, int]] = field(default_factory=list)


def places(executable: Path, file: str, counters: Iterable[int]) -> dict[int, Place]:
    """The lines of `file` behind anchor-relative program counters; those that lie elsewhere are left out.

    `file` is the name in the translation unit's #line directives. Executables without DWARF give nothing.
    """
    wanted = set(counters)
    if not wanted:
        return {}
    code = _code_of(executable, os.path.normpath(file))
    found = {counter: code.line(code.anchor + counter) for counter in wanted}
    return {counter: Place(file, line) for counter, line in found.items() if line is not None}


@dataclass
class _Code:
    """Where the code of one file lies in an executable."""

    file: str
    anchor: int = 0
    rows: list[_Row] = field(default_factory=list)  # by address
    calls: list[_Call] = field(default_factory=list)

    def line(self, address: int) -> int | None:
        """The line of the file that an address belongs to, inlined or not."""
        at = bisect.bisect_right(self.rows, address, key=lambda row: row.address) - 1
        if at < 0 or address >= self.rows[at].end:
            return None
        if self.rows[at].file == self.file:
            # Line 0 is code of the compiler's own making: it belongs to the line before it.
            while self.rows[at].line == 0 and at > 0 and self.rows[at - 1].end == self.rows[at].address:
                at -= 1
            return self.rows[at].line or None
        return _innermost(self.calls, address, self.file)


@functools.lru_cache(maxsize=16)
def _code_of(executable: Path, file: str) -> _Code:
    """Reads an executable's tables. It is named by its content, so what was read stays true."""
    code = _Code(file)
    try:
        anchor = anchor_of(executable)
        with executable.open("rb") as stream:
            elf = ELFFile(stream)
            if anchor is not None and elf.has_dwarf_info():
                code.anchor = anchor
                _read_tables(elf.get_dwarf_info(), code)
    except (ELFError, OSError):
        return _Code(file)
    return code


def _read_tables(dwarf: Any, code: _Code) -> None:
    for unit in dwarf.iter_CUs():
        top = unit.get_top_DIE()
        names = _FileNames(dwarf, unit, top)
        if code.file in names:
            code.rows += _rows(dwarf, unit, names)
            code.calls += _inlined_calls(dwarf, unit, top, names)
    code.rows.sort(key=lambda row: row.address)


def _innermost(calls: list[_Call], address: int, file: str) -> int | None:
    inside = [
        call
        for call in calls
        if call.file == file and any(low <= address < high for low, high in call.ranges)
    ]
    return max(inside, key=lambda call: call.depth).line if inside else None


class _FileNames:
    """The numbered files of a unit's line table, as normalised paths."""

    def __init__(self, dwarf: Any, unit: Any, top: Any) -> None:
        self._paths: dict[int, str] = {}
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            return
        header = program.header
        folders = [_text(folder) for folder in header["include_directory"]]
        first = 1 if header["version"] < 5 else 0
        for number, entry in enumerate(header["file_entry"], start=first):
            folder = entry["dir_index"]
            if header["version"] < 5:
                base = folders[folder - 1] if folder else ""
            else:
                base = folders[folder] if folder else ""
            self._paths[number] = os.path.normpath(os.path.join(base, _text(entry["name"])))  # noqa: PTH118  (text)
        self._paths.setdefault(0, os.path.normpath(_text(top.attributes["DW_AT_name"].value)))

    def __contains__(self, path: str) -> bool:
        return path in self._paths.values()

    def __getitem__(self, number: int) -> str:
        return self._paths.get(number, "")


def _rows(dwarf: Any, unit: Any, names: _FileNames) -> Iterator[_Row]:
    """The line table as address ranges."""
    before: Any = None
    for entry in dwarf.line_program_for_CU(unit).get_entries():
        state = entry.state
        if state is None:
            continue
        if before is not None and state.address > before.address:
            yield _Row(before.address, state.address, names[before.file], before.line)
        before = None if state.end_sequence else state


def _inlined_calls(dwarf: Any, unit: Any, top: Any, names: _FileNames) -> Iterator[_Call]:
    waiting = [(top, 0)]
    while waiting:
        entry, depth = waiting.pop()
        if entry.tag == "DW_TAG_inlined_subroutine":
            depth += 1
            where, line = entry.attributes.get("DW_AT_call_file"), entry.attributes.get("DW_AT_call_line")
            if where is not None and line is not None:
                yield _Call(depth, names[where.value], line.value, _ranges(dwarf, unit, top, entry))
        waiting += [(child, depth) for child in entry.iter_children()]


def _ranges(dwarf: Any, unit: Any, top: Any, entry: Any) -> list[tuple[int, int]]:
    attributes = entry.attributes
    if "DW_AT_low_pc" in attributes and "DW_AT_high_pc" in attributes:
        low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
        return [(low, high.value if high.form == "DW_FORM_addr" else low + high.value)]
    if "DW_AT_ranges" not in attributes:
        return []
    base = top.attributes["DW_AT_low_pc"].value if "DW_AT_low_pc" in top.attributes else 0
    found = []
    for item in dwarf.range_lists().get_range_list_at_offset(attributes["DW_AT_ranges"].value, cu=unit):
        if isinstance(item, BaseAddressEntry):
            base = item.base_address
        else:
            shift = 0 if getattr(item, "is_absolute", False) else base
            found.append((shift + item.begin_offset, shift + item.end_offset))
    return found


def _text(value: bytes | str) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
