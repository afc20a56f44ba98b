"""What a submission's object file asks of the C library, and which of its names it takes.

A rule that reads the text can be hidden from: by a macro, by a pointer, by two halves of a name. The linker
sees the name itself. Object files of another format than ELF are not looked at.
"""

from __future__ import annotations

from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tilestep.emulator.system_calls import OF_OBJECTS

_GIVEN = frozenset({"tilestep_seam"})  # what the runtime wants from a submission


def forbidden_call(submission: Path) -> str:
    """A sentence about the first function that the object file refers to and may not; empty without one."""
    asks, _ = _symbols(submission)
    called = sorted(asks & OF_OBJECTS.keys())
    return f"{called[0]} {OF_OBJECTS[called[0]]}, and a seam only launches kernels" if called else ""


def taken_name(submission: Path, runtime: Path) -> str:
    """A sentence about the first function of the runtime, or that the runtime calls, which it replaces."""
    _, defines = _symbols(submission)
    needed, provided = _symbols(runtime)
    taken = sorted(defines & ((needed | provided) - _GIVEN))
    return (
        f"{taken[0]} has the name of a function of the runtime or the C library; rename it" if taken else ""
    )


def _symbols(path: Path) -> tuple[set[str], set[str]]:
    """(asked for, defined for others) in an object file, by their names in C; not what C++ mangles."""
    asks: set[str] = set()
    defines: set[str] = set()
    with path.open("rb") as stream:
        try:
            tables = [s for s in ELFFile(stream).iter_sections() if isinstance(s, SymbolTableSection)]
        except ELFError:
            return asks, defines
        for symbol in (symbol for table in tables for symbol in table.iter_symbols()):
            if symbol["st_info"]["bind"] == "STB_LOCAL" or not symbol.name or symbol.name.startswith("_Z"):
                continue
            (asks if symbol["st_shndx"] == "SHN_UNDEF" else defines).add(symbol.name)
    return asks, defines
