"""From program counters back to lines, in small programs of each shape."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tilestep.emulator.build import Builder
from tilestep.emulator.cache import Cache
from tilestep.emulator.compilers import find_compiler
from tilestep.emulator.symbolise import places

HEADER = """\
#pragma once
extern "C" void note();
__attribute__((always_inline)) inline void deepest() { note(); }
__attribute__((always_inline)) inline void deeper() { deepest(); deepest(); }
"""

# Line 1 is the line after #line. `note` records where it was called from.
SOURCE = """\
#include "inner.h"
#include <stdio.h>
extern "C" __attribute__((noinline)) void tilestep_anchor() { asm volatile(""); }
extern "C" __attribute__((noinline)) void note() {
  const char* pc = static_cast<const char*>(__builtin_return_address(0)) - 1;
  printf("%td\\n", pc - reinterpret_cast<const char*>(&tilestep_anchor));
}
#line 1 "some folder/kernel.cu"
__attribute__((always_inline)) inline void own() {
  note();
}
int main() {
  note();
  deepest();
  own();
  deeper();
  return 0;
}
"""
WANTED = [5, 6, 2, 8, 8]  # an own inline function keeps its line; a header's takes its caller's


@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize("optimised", ["-O0", "-O3"])
def test_lines_and_inlined_callers(tmp_path: Path, version: str, optimised: str) -> None:
    (tmp_path / "inner.h").write_text(HEADER)
    (tmp_path / "main.cpp").write_text(SOURCE)
    flags = [
        flag for flag in Builder(find_compiler(), Cache()).toolchain.recipe("fast").compile if flag != "-O3"
    ]
    flags = [flag for flag in flags if not flag.startswith("-gdwarf")]
    link = Builder(find_compiler(), Cache()).toolchain.recipe("fast").links[-1]
    program = tmp_path / "program"
    subprocess.run(
        [*find_compiler().argv, *flags, version, optimised, "main.cpp", *link, "-o", str(program)],
        cwd=tmp_path,
        check=True,
    )
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    counters = [int(line) for line in said.split()]
    found = places(program, "some folder/kernel.cu", counters)
    assert [found[counter].line for counter in counters] == WANTED
    assert {place.file for place in found.values()} == {"some folder/kernel.cu"}
    assert places(program, "another.cu", counters) == {}
    assert places(program, "some folder/kernel.cu", [10**9, -(10**9)]) == {}


def test_what_is_no_program_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    assert places(tmp_path / "text", "kernel.cu", [1]) == {}
    assert places(tmp_path / "absent", "kernel.cu", [1]) == {}
    assert places(tmp_path / "absent", "kernel.cu", []) == {}
