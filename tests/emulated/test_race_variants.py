"""Many small kernels with and without their barriers: every fault is found, in any order of threads.

races/variants.cu holds the kernels; the numbers of their variants are made here as its macros make them.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import numpy as np
import pytest

from tilestep.contract import STEP
from tilestep.frontends.cuda import load
from tilestep.program import Buffer, Job
from tilestep.targets.cpu import CpuBuilt, CpuTarget

SOURCE = Path(__file__).parent / "races" / "variants.cu"
SIZES = (64, 128, 256)
ROWS, WIDTH = 16, 64


def variants() -> list[tuple[str, int, int, int]]:
    """(kernel, fault, threads, number) of every variant."""
    found = []
    for faults, base, kernel in re.findall(r"FAULTS(\d)\(X, (\d+), (\w+)\)", SOURCE.read_text()):
        for fault in range(int(faults)):
            for which, threads in enumerate(SIZES, start=1):
                found.append((kernel, fault, threads, int(base) + 10 * fault + which))
    return found


@functools.cache
def built() -> tuple[CpuTarget, CpuBuilt]:
    target = CpuTarget()
    return target, target.build(load(SOURCE, STEP["causal-attention"]))


def codes(number: int, order: str) -> set[str]:
    values = np.linspace(-1, 1, ROWS * WIDTH, dtype=np.float32).reshape(ROWS, WIDTH)
    buffers = (Buffer("qkv", ROWS, WIDTH, "in", values), Buffer("attnOut", ROWS, WIDTH, "out"))
    target, program = built()
    ran = target.run(program, Job(buffers, (number,), order=order))
    assert ran.ended == "finished", ran.says
    return {finding.code for finding in ran.findings}


@pytest.mark.parametrize("order", ["forward", "reverse", "random 11"])
@pytest.mark.parametrize("kernel", sorted({kernel for kernel, *_ in variants()}))
def test_a_fault_is_found_and_its_absence_too(kernel: str, order: str) -> None:
    for name, fault, threads, number in variants():
        if name != kernel:
            continue
        found = codes(number, order)
        if fault:
            assert found & {"race-shared", "race-global"}, f"fault {fault} with {threads} threads"
        else:
            assert not found, f"the right kernel with {threads} threads"


def test_there_are_enough_of_both() -> None:
    faults = [fault for _, fault, _, _ in variants()]
    assert sum(fault > 0 for fault in faults) >= 40
    assert sum(fault == 0 for fault in faults) >= 40
