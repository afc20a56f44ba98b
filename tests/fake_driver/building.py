"""What is compiled for the fake: its two libraries, and the images that stand in for cubins."""

from __future__ import annotations

import importlib.util
import io
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from tilestep import contract
from tilestep.emulator.cache import Cache, digest
from tilestep.emulator.compilers import find_compiler, missing_compiler

HERE = Path(__file__).parent
LIBRARY = HERE / "library"
SUBMISSIONS = HERE / "submissions"
OTHER, ENTRY = 5, 0x10  # the byte of an ELF symbol that tells a kernel, and its bit
_LIBRARIES = {"cuda": "libcuda.so.1", "nvml": "libnvidia-ml.so.1"}
_FLAGS = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared")


def missing() -> str | None:
    """None, or why the GPU's worker cannot run on the fake here."""
    if says := missing_compiler():
        return says
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.core") is None:
        return "cuda-core is not installed: pip install 'tilestep[gpu]'"
    return None


def libraries() -> tuple[Path, ...]:
    """The driver and the management library, built once."""
    return tuple(_library(part, name) for part, name in _LIBRARIES.items())


def image(stand_in: str | Path) -> bytes:
    """A shared object with the kernels of a C++ file of `submissions`, or of another folder."""
    source = SUBMISSIONS / stand_in
    headers = [LIBRARY / "kernel.h", *sorted(SUBMISSIONS.glob("*.h"))]
    flags = ["-O3", "-ffp-contract=off", f"-I{LIBRARY}", f"-I{SUBMISSIONS}"]
    if find_compiler().kind != "zig":
        flags.append("-nostartfiles")  # which would bring a variable of their own
    if find_compiler().kind == "gcc":
        flags.append("-fno-gnu-unique")  # each load has variables of its own; clang has no such symbols
    return _with_entries(_compiled([source], headers, tuple(flags), contract.header()).read_bytes())


def _with_entries(data: bytes) -> bytes:
    """Marks the functions of an image as kernels, as a cubin's symbol table does."""
    marked = bytearray(data)
    table: Any = ELFFile(io.BytesIO(data)).get_section_by_name(".symtab")
    for number, symbol in enumerate(table.iter_symbols()):
        public = symbol["st_info"] == {"bind": "STB_GLOBAL", "type": "STT_FUNC"}
        if public and symbol["st_shndx"] != "SHN_UNDEF" and symbol.name not in ("_init", "_fini"):
            marked[table["sh_offset"] + number * table["sh_entsize"] + OTHER] |= ENTRY
    return bytes(marked)


def _library(part: str, name: str) -> Path:
    """The linker knows a preloaded library by the name that it carries: its file may have any."""
    sources = [*sorted(LIBRARY.glob("*.cpp")), *sorted((LIBRARY / part).glob("*.cpp"))]
    headers = [*sorted(LIBRARY.glob("*.h")), *sorted((LIBRARY / part).glob("*.h"))]
    return _compiled(sources, headers, ("-O1", "-fvisibility=hidden", f"-Wl,-soname,{name}", "-ldl"))


def _compiled(sources: list[Path], headers: list[Path], flags: tuple[str, ...], first: str = "") -> Path:
    """A shared object; the text `first` is included before all else."""
    compiler = find_compiler()
    texts = [file.read_bytes() for file in (*sources, *headers)]
    name = digest(compiler.stamp, *_FLAGS, *flags, first, *texts) + ".so"

    def make(path: Path) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".h") as header:
            header.write(first)
            header.flush()
            command = [
                *compiler.argv,
                *_FLAGS,
                "-include",
                header.name,
                *map(str, sources),
                "-o",
                str(path),
                *flags,
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    return Cache().get_or_make(name, make)
