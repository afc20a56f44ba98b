"""Finds a C++17 compiler: what TILESTEP_CXX names, else g++ or clang on the PATH, else the one of ziglang."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MEND = "pip install 'tilestep[cc]'"

_OLDEST = {"gcc": 9, "clang": 10}


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: how it is called, what it is (gcc, clang or zig), and its version."""

    argv: tuple[str, ...]
    kind: str
    version: str
    stamp: str  # changes with the compiler's file: part of every cache key

    @property
    def name(self) -> str:
        return f"{ {'gcc': 'g++', 'clang': 'clang++', 'zig': 'zig c++'}[self.kind] } {self.version}"


class NoCompilerError(Exception):
    """There is no C++ compiler that works here; the text says what to do."""


def find_compiler() -> Compiler:
    """The compiler that builds submissions here. Raises NoCompilerError with the command that mends it."""
    return _find(os.environ.get("TILESTEP_CXX", ""), os.environ.get("PATH", os.defpath))


def missing_compiler() -> str | None:
    """None where there is a compiler, else one sentence with the command that mends it."""
    try:
        find_compiler()
    except NoCompilerError as why:
        return str(why)
    return None


@functools.lru_cache(maxsize=8)
def _find(chosen: str, path: str) -> Compiler:
    if chosen:
        found = _look_at(tuple(shlex.split(chosen)), path)
        if isinstance(found, str):
            raise NoCompilerError(
                f"TILESTEP_CXX is {chosen!r}, but {found}; unset it, or name a C++17 compiler"
            )
        return found
    reasons = []
    for argv in _candidates(path):
        found = _look_at(argv, path)
        if not isinstance(found, str):
            return found
        reasons.append(found)
    seen = f" ({'; '.join(reasons)})" if reasons else ""
    raise NoCompilerError(f"there is no C++ compiler here{seen}: {MEND}")


def _candidates(path: str) -> Iterator[tuple[str, ...]]:
    for name in ("g++", "clang++", "c++"):
        if shutil.which(name, path=path):
            yield (name,)
    if zig := _zig_of_package():
        yield (zig, "c++")


def _zig_of_package() -> str | None:
    """The executable in the ziglang package: no Python process in between, as in `python -m ziglang`."""
    spec = importlib.util.find_spec("ziglang")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        zig = Path(folder) / ("zig.exe" if sys.platform == "win32" else "zig")
        if zig.is_file():
            return str(zig)
    return None


def _look_at(argv: tuple[str, ...], path: str) -> Compiler | str:
    """The compiler behind `argv`, or why it is none."""
    if not argv:
        return "it is empty"
    if argv[1:3] == ("-m", "ziglang"):
        zig = _zig_of_package()
        if zig is None:
            return "ziglang is not installed beside tilestep"
        argv = (zig, *argv[3:])
    program = shutil.which(argv[0], path=path)
    if program is None:
        return f"{argv[0]} is not there"
    full = (str(Path(program).absolute()), *argv[1:])
    try:
        said = subprocess.run(
            [*full, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{argv[0]} does not start ({error})"
    if said.returncode != 0:
        first = (said.stderr.strip().splitlines() or ["it says nothing"])[0]
        return f"{argv[0]} --version fails ({first[:120]})"
    kind, version = _identify(full, said.stdout)
    if kind == "zig":
        version = subprocess.run(
            [full[0], "version"], capture_output=True, text=True, timeout=60
        ).stdout.strip()
    if not version:
        return f"{argv[0]} is no compiler that tilestep knows"
    oldest = _OLDEST.get(kind)
    if oldest is not None and int(version.split(".")[0]) < oldest:
        return f"{argv[0]} is version {version}, and C++17 needs {oldest} or newer"
    status = Path(full[0]).resolve().stat()
    return Compiler(full, kind, version, f"{said.stdout.strip()}|{status.st_size}|{status.st_mtime_ns}")


def _identify(argv: tuple[str, ...], said: str) -> tuple[str, str]:
    """(kind, version) from what `--version` prints."""
    clang = re.search(r"clang version (\d+\.\d+(?:\.\d+)?)", said)
    if clang and Path(argv[0]).name.startswith("zig"):
        return "zig", clang.group(1)
    if clang:
        return "clang", clang.group(1)
    if "Free Software Foundation" in said:
        number = re.search(r"\) (\d+\.\d+(?:\.\d+)?)", said.splitlines()[0])  # g++ (maker's words) 12.2.0
        return "gcc", number.group(1) if number else ""
    return "unknown", ""
