"""The checkers by themselves, driven by C++ programs that play the machine (checkers/*.cpp)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tilestep import emulator
from tilestep.emulator.compilers import find_compiler

PROGRAMS = sorted((Path(__file__).parent / "checkers").glob("*.cpp"))
SOURCES = Path(emulator.__file__).parent


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_the_checkers_keep_their_rules(program: Path, tmp_path: Path) -> None:
    executable = tmp_path / program.stem
    includes = [f"-I{SOURCES / folder}" for folder in ("include", "runtime", "checkers")]
    quiet = ["-Wno-unused-parameter", "-Wno-missing-field-initializers"]
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", *quiet, *includes]
    compiled = subprocess.run(
        [*find_compiler().argv, *flags, str(program), "-o", str(executable)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stderr
    assert not compiled.stderr, "warnings"
    ran = subprocess.run([str(executable)], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout
    assert not ran.stdout
