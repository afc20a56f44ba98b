"""Seams that launch so often, or with so much, that it is not played: a sentence with limit and line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilestep import contract
from tilestep.emulator.build import Builder
from tilestep.emulator.cache import Cache
from tilestep.emulator.compilers import find_compiler
from tilestep.emulator.job import run_job
from tilestep.frontends.cuda import load
from tilestep.program import Buffer, Job, Run
from tilestep.targets.cpu import CpuTarget

T = 5
JOB = Job(
    (
        Buffer("x", T, contract.D, "in", np.zeros((T, contract.D), np.float32)),
        Buffer("weight", 1, contract.D, "in", np.zeros((1, contract.D), np.float32)),
        Buffer("y", T, contract.D, "out"),
    ),
    (T,),
    mode="record",
)
SEAM = "void runRmsNorm(const float* x, const float* weight, float* y, int T) {"
KERNEL = "__global__ void k(float* y) { y[0] = 1; }\n"
WIDE = "struct Wide { char c[4000]; };\n__global__ void k(float* y, Wide wide) { y[0] = wide.c[0]; }\n"
FITS = 20_000


def seam(count: int, what: str) -> str:
    return f"{SEAM}\nfor (int i = 0; i < {count}; ++i)\n{what}\n}}\n"


def record(folder: Path, text: str) -> Run:
    path = folder / "a.cu"
    path.write_text(text)
    program = load(path, contract.STEP["rmsnorm"])
    builder = Builder(find_compiler(), Cache())
    return run_job(builder.build(program.source, "record"), program.file, JOB, builder.confine)


def on_the_cpu(folder: Path, text: str) -> Run:
    path = folder / "a.cu"
    path.write_text(text)
    target = CpuTarget()
    return target.run(target.build(load(path, contract.STEP["rmsnorm"])), replace(JOB, mode="fast"))


@pytest.mark.parametrize("run", [record, on_the_cpu])
@pytest.mark.parametrize(
    ("what", "call"),
    [
        ("k<<<1, 1>>>(y);", "k"),
        ("cudaMemset(y, 0, 4);", "cudaMemset"),
        ("cudaMemcpy(y, x, 4, cudaMemcpyDeviceToDevice);", "cudaMemcpy"),
    ],
)
def test_too_many_launches_are_refused_with_the_limit(
    tmp_path: Path, run: Callable[[Path, str], Run], what: str, call: str
) -> None:
    done = run(tmp_path, KERNEL + seam(100_000, what))
    assert (done.ended, done.line) == ("refused", 4)
    limit = "the seam makes too many launches, memsets and copies: at most 20,000 in one call"
    assert done.says == f"{call}: {limit}"


@pytest.mark.parametrize("run", [record, on_the_cpu])
def test_as_many_as_fit_are_played(tmp_path: Path, run: Callable[[Path, str], Run]) -> None:
    done = run(tmp_path, KERNEL + seam(FITS, "k<<<1, 1>>>(y);"))
    assert done.ended == "finished", done.says
    assert len(done.plan.launches) == FITS


def test_arguments_that_are_too_large_together_are_refused(tmp_path: Path) -> None:
    done = record(tmp_path, WIDE + seam(FITS, "k<<<1, 1>>>(y, Wide{});"))
    assert (done.ended, done.line) == ("refused", 5)
    assert done.says.startswith("k: the seam's launches have too large arguments: at most 25,165,824 bytes")
