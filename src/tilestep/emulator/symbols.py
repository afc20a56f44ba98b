"""The names that the linker knows, by address: for counters and variables that a worker tells of."""

from __future__ import annotations

import bisect
import functools
import struct
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

ANCHOR = "tilestep_anchor"  # counters travel as distances from this function of the runtime

_SYMBOL = struct.Struct("<IBBHQQ")  # of a 64-bit ELF file: name, info, other, section, value, size
_OBJECT, _FUNCTION = 1, 2


def symbol_at(executable: Path, counter: int) -> str:
    """The function or variable around an anchor-relative address; "" where there is none."""
    table = _table(executable)
    at = bisect.bisect_right(table.begins, table.anchor + counter) - 1
    if at < 0:
        return ""
    begin, size, name = table.symbols[at]
    return table.text(name) if table.anchor + counter < begin + max(size, 1) else ""


def anchor_of(executable: Path) -> int | None:
    """The anchor's address; None in an executable that is not ours."""
    return _table(executable).anchor or None


class _Table:
    """(address, size, where its name is) of every function and variable, by address."""

    def __init__(self, data: bytes = b"", names: bytes = b"") -> None:
        self._names = names
        self.symbols = sorted(
            (value, size, name)
            for name, info, _, _, value, size in _SYMBOL.iter_unpack(data)
            if value and info & 0xF in (_OBJECT, _FUNCTION)
        )
        self.begins = [begin for begin, _, _ in self.symbols]
        wanted = ANCHOR.encode() + b"\0"
        self.anchor = next((begin for begin, _, name in self.symbols if names.startswith(wanted, name)), 0)

    def text(self, name: int) -> str:
        return self._names[name : self._names.index(b"\0", name)].decode("utf-8", "replace")


@functools.lru_cache(maxsize=64)
def _table(executable: Path) -> _Table:
    """The file is named by its content. A static executable has thousands of symbols: bytes are quicker."""
    try:
        with executable.open("rb") as stream:
            table: Any = ELFFile(stream).get_section_by_name(".symtab")
            return _Table() if table is None else _Table(table.data(), table.stringtable.data())
    except (ELFError, OSError):
        return _Table()
