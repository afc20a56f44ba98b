"""The names that the linker knows, by address: for counters and variables that a worker tells of."""

from __future__ import annotations

import bisect
import functools
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from tilestep.emulator.symbolise import ANCHOR


def symbol_at(executable: Path, counter: int) -> str:
    """The function or variable around an anchor-relative address; "" where there is none."""
    anchor, symbols = _table(executable)
    at = bisect.bisect_right(symbols, anchor + counter, key=lambda symbol: symbol[0]) - 1
    if at < 0:
        return ""
    begin, size, name = symbols[at]
    return name if anchor + counter < begin + max(size, 1) else ""


@functools.lru_cache(maxsize=64)
def _table(executable: Path) -> tuple[int, list[tuple[int, int, str]]]:
    """The anchor, and (address, size, name) by address. The file is named by its content."""
    try:
        with executable.open("rb") as stream:
            table: Any = ELFFile(stream).get_section_by_name(".symtab")
            if table is None:
                return 0, []
            kept = [
                (int(symbol["st_value"]), int(symbol["st_size"]), str(symbol.name))
                for symbol in table.iter_symbols()
                if symbol["st_info"]["type"] in ("STT_FUNC", "STT_OBJECT") and symbol["st_value"]
            ]
    except (ELFError, OSError):
        return 0, []
    anchor = next((address for address, _, name in kept if name == ANCHOR), 0)
    return anchor, sorted(kept)
