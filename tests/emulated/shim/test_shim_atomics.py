"""Atomics on every type, assert and __trap."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilestep.program import Floats, Run

NOTHING = np.zeros((1, 1), np.float32)
THREADS = 256


def test_atomics_of_every_type(run: Callable[..., Run]) -> None:
    want = [
        sum(range(THREADS)) - THREADS, -7, THREADS - 1, -(2**31), 2 * THREADS,
        THREADS % 100, 100 - (THREADS - 1) % 100 - 1, THREADS - 1, 0xFFFF, THREADS, THREADS - 1,
        1 - THREADS, THREADS / 2, THREADS / 4, THREADS, 2 * THREADS, THREADS, THREADS,
    ]  # fmt: skip
    for mode in ("fast", "check"):
        ran = run("atomics.cu", NOTHING, (1, 18), case=0, mode=mode)
        assert ran.ended == "finished"
        assert ran.outputs["attnOut"][0].tolist() == want, mode
        # One line reads `taken` without an atomic while others change it.
        assert {finding.code for finding in ran.findings} <= {"race-global"}


@pytest.mark.parametrize(("case", "text"), [(1, "(int)threadIdx.x < limit"), (2, "__trap")])
@pytest.mark.parametrize("mode", ["fast", "check"])
def test_a_false_assert_is_a_finding(mode: str, case: int, text: str, run: Callable[..., Run]) -> None:
    ran = run("atomics.cu", NOTHING, (1, 18), case=case, mode=mode)
    source = (Path(__file__).parent / "atomics.cu").read_text().splitlines()
    (finding,) = ran.findings
    assert finding.code == "assert-failed"
    assert text in source[(finding.line or 0) - 1]
    assert finding.thread == ((40, 0, 0) if case == 1 else (5, 0, 0))
    assert ran.ended == "crashed"


def test_kernels_print(output: Callable[..., Floats]) -> None:
    output("host.cu", np.zeros((1, 64), np.float32), (1, 64), case=7)  # what is printed must not hurt the run
