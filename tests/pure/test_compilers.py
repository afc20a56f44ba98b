"""Which compiler is taken, with stand-ins that only tell their version."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tilestep.emulator import compilers
from tilestep.emulator.compilers import MEND, NoCompilerError, find_compiler, missing_compiler

GCC = "g++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc."
FEDORA = "g++ (GCC) 14.2.1 20240912 (Red Hat 14.2.1-3)\nCopyright (C) 2024 Free Software Foundation, Inc."
OLD = "g++ (GCC) 7.5.0\nCopyright (C) 2017 Free Software Foundation, Inc."
CLANG = "Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu"
APPLE = "Apple clang version 15.0.0 (clang-1500.3.9.4)\nTarget: arm64-apple-darwin23.4.0"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose PATH is one empty folder, without ziglang."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TILESTEP_CXX", raising=False)
    monkeypatch.setitem(sys.modules, "ziglang", None)
    return tmp_path


def install(folder: Path, name: str, says: str, status: int = 0) -> Path:
    program = folder / name
    program.write_text(
        f"#!/bin/sh\nwhile read -r line; do echo \"$line\"; done <<'END'\n{says}\nEND\nexit {status}\n"
    )
    program.chmod(0o755)
    compilers._find.cache_clear()
    return program


def test_without_a_compiler_the_command_that_mends_it_is_told() -> None:
    compilers._find.cache_clear()
    with pytest.raises(NoCompilerError, match=r"there is no C\+\+ compiler here: pip install"):
        find_compiler()
    said = missing_compiler()
    assert said is not None
    assert said.endswith(MEND)


@pytest.mark.parametrize(
    ("name", "says", "kind", "version"),
    [
        ("g++", GCC, "gcc", "12.2.0"),
        ("g++", FEDORA, "gcc", "14.2.1"),
        ("g++", APPLE, "clang", "15.0.0"),
        ("clang++", CLANG, "clang", "14.0.6"),
        ("c++", GCC, "gcc", "12.2.0"),
    ],
)
def test_kinds_are_told_apart(alone: Path, name: str, says: str, kind: str, version: str) -> None:
    program = install(alone, name, says)
    found = find_compiler()
    assert (found.argv, found.kind, found.version) == ((str(program),), kind, version)
    assert missing_compiler() is None


def test_gcc_comes_first_and_an_old_one_is_passed_over(alone: Path) -> None:
    install(alone, "clang++", CLANG)
    install(alone, "g++", OLD)
    assert find_compiler().kind == "clang"
    install(alone, "g++", GCC)
    assert find_compiler().kind == "gcc"


def test_what_was_passed_over_is_told(alone: Path) -> None:
    install(alone, "g++", OLD)
    install(alone, "clang++", "who knows")
    said = missing_compiler()
    assert said is not None
    assert "g++ is version 7.5.0, and C++17 needs 9 or newer" in said
    assert "clang++ is no compiler that tilestep knows" in said


def test_the_environment_names_one(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(alone, "g++", GCC)
    program = install(alone, "my-clang", CLANG)
    monkeypatch.setenv("TILESTEP_CXX", f"{program} --gcc-toolchain=/usr")
    assert find_compiler().argv == (str(program), "--gcc-toolchain=/usr")


@pytest.mark.parametrize(
    ("chosen", "why"),
    [("nowhere++", "nowhere\\+\\+ is not there"), ("broken++", "broken\\+\\+ --version fails")],
)
def test_a_chosen_compiler_that_does_not_work_is_an_error(
    alone: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, why: str
) -> None:
    install(alone, "g++", GCC)
    install(alone, "broken++", "", status=1)
    monkeypatch.setenv("TILESTEP_CXX", chosen)
    with pytest.raises(NoCompilerError, match=why):
        find_compiler()


def test_a_changed_compiler_has_another_stamp(alone: Path) -> None:
    install(alone, "g++", GCC)
    before = find_compiler()
    install(alone, "g++", GCC + "\n")
    assert find_compiler().stamp != before.stamp


def test_the_module_of_ziglang_means_its_own_executable(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILESTEP_CXX", f"{sys.executable} -m ziglang c++")
    compilers._find.cache_clear()
    with pytest.raises(NoCompilerError, match="ziglang is not installed beside tilestep"):
        find_compiler()
    program = install(alone, "zig", "clang version 20.1.2")
    monkeypatch.setattr(compilers, "_zig_of_package", lambda: str(program))
    found = find_compiler()
    assert (found.argv, found.kind) == ((str(program), "c++"), "zig")
