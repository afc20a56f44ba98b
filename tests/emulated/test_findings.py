"""Every finding code from end to end: a small kernel, and the code, line and array that must be told.

The kernels lie in findings/*.cu. A comment `expect N: CODE ARRAY` stands at the line where case N must find
CODE; `clean N` marks a case without findings. The seam's T is the number of the case.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tilestep.contract import STEP
from tilestep.emulator.findings import CODE
from tilestep.frontends.cuda import load
from tilestep.program import Buffer, Job, Run
from tilestep.targets.cpu import CpuBuilt, CpuTarget

FOLDER = Path(__file__).parent / "findings"
ROWS, WIDTH = 8, 64
ORDERS = ("forward", "reverse", "random 5")


class Expected(NamedTuple):
    code: str
    line: int
    array: str


def cases() -> list[tuple[str, int, frozenset[Expected]]]:
    """(file, case, what must be found) from the comments; several are separated by commas."""
    found: dict[tuple[str, int], set[Expected]] = {}
    for path in sorted(FOLDER.glob("*.cu")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            _, _, comment = line.partition("//")
            for case in re.findall(r"clean (\d+)", comment):
                found.setdefault((path.name, int(case)), set())
            for case, code, array in re.findall(r"expect (\d+): ([a-z-]+)([^,]*)", comment):
                found.setdefault((path.name, int(case)), set()).add(Expected(code, number, array.strip()))
    return [(name, case, frozenset(wanted)) for (name, case), wanted in sorted(found.items())]


@functools.cache
def target() -> CpuTarget:
    return CpuTarget()


@functools.cache
def built(name: str) -> CpuBuilt:
    return target().build(load(FOLDER / name, STEP["causal-attention"]))


def run(name: str, case: int, order: str = "forward", mode: str = "check") -> Run:
    values = np.linspace(-1, 1, ROWS * WIDTH, dtype=np.float32).reshape(ROWS, WIDTH)
    buffers = (Buffer("qkv", ROWS, WIDTH, "in", values), Buffer("attnOut", ROWS, WIDTH, "out"))
    return target().run(
        built(name), Job(buffers, (case,), mode=mode, order=order, budget=2_000_000, timeout=10)
    )


def identify(value: object) -> str:
    return "+".join(sorted(e.code for e in value)) or "clean" if isinstance(value, frozenset) else str(value)


@pytest.mark.parametrize(("name", "case", "wanted"), cases(), ids=identify)
def test_a_case_finds_what_it_must(name: str, case: int, wanted: frozenset[Expected]) -> None:
    for order in ORDERS:
        ran = run(name, case, order)
        got = {Expected(f.code, f.line or 0, f.array) for f in ran.findings}
        told = "\n".join(f"{f.line} {f.code} {f.array}: {f.says}" for f in ran.findings)
        if order == "forward":
            assert got == wanted, told
        # Which of two racing lines comes second depends on the order; that there is a race does not. A racing
        # read may come before any write.
        missing = {(f.code, f.array) for f in wanted} - {(f.code, f.array) for f in got}
        added = {f.code for f in got} - {f.code for f in wanted}
        assert not {code for code, _ in missing if not code.startswith("uninitialised")}, f"{order}: {told}"
        assert not added or (
            {f.code for f in wanted} >= {"race-shared"} and added == {"uninitialised-shared"}
        ), told


def test_without_checkers_the_guard_bands_still_tell() -> None:
    (finding,) = run("memory.cu", 2, mode="fast").findings
    assert (finding.code, finding.array) == ("guard-band", "attnOut")
    assert "before the start of attnOut" in finding.says


def test_every_code_of_a_run_has_a_case() -> None:
    shown = {expected.code for _, _, wanted in cases() for expected in wanted}
    elsewhere = {"guard-band", "order-dependent"}  # the first above; the second compares runs
    assert shown | elsewhere == set(CODE)
