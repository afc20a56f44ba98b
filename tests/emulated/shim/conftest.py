"""Runs a `.cu` of this folder with one input and one output, whatever their shapes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilestep.contract import STEP
from tilestep.frontends.cuda import load
from tilestep.program import Buffer, Floats, Job, Run
from tilestep.targets.cpu import CpuBuilt, CpuTarget

FOLDER = Path(__file__).parent


@functools.cache
def target() -> CpuTarget:
    return CpuTarget()


@functools.cache
def built(path: Path) -> CpuBuilt:
    return target().build(load(path, STEP["causal-attention"]))


Runner = Callable[..., Run]


@pytest.fixture
def run() -> Runner:
    """run(file, input rows, output shape, case=..., mode=...): the seam's T is the case."""

    def runner(
        file: str | Path, rows: Floats, shape: tuple[int, int], *, case: int = 0, mode: str = "fast"
    ) -> Run:
        given = Buffer("qkv", rows.shape[0], rows.shape[1], "in", np.ascontiguousarray(rows, np.float32))
        wanted = Buffer("attnOut", shape[0], shape[1], "out")
        job = Job((given, wanted), (case,), mode=mode, scratch_bytes=1 << 20)
        return target().run(built(FOLDER / file), job)

    return runner


@pytest.fixture
def output(run: Runner) -> Callable[..., Floats]:
    """The same, for a run that must end well: its output, with nothing found."""

    def runner(file: str | Path, rows: Floats, shape: tuple[int, int], **options: object) -> Floats:
        ran = run(file, rows, shape, **options)
        assert (ran.ended, ran.says, ran.findings) == ("finished", "", ())
        return ran.outputs["attnOut"]

    return runner
