"""nvcc and NVRTC make kernels that give the same values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu_submissions import RIGHT, STEP_OF_ALL, SUBMISSIONS
from gpu_submissions import job as small_job

from tilestep import kernels
from tilestep.contract import STEP
from tilestep.frontends import cuda
from tilestep.judge import schedule
from tilestep.subjects import subject
from tilestep.targets.gpu import GpuTarget
from tilestep.targets.gpu import compile as compiling

TESTS = Path(__file__).parents[1]
# Each with what it needs of a compiler: templates, dynamic shared memory, and headers of CUDA's own.
FILES = {
    "attention/03_online.cu": kernels.path("attention/03_online.cu"),
    "attention/02_cooperative.cu": kernels.path("attention/02_cooperative.cu"),
    "template tiles": TESTS / "right/attention/11-template-tiles.cu",
    "dynamic shared memory": TESTS / "right/attention/17-float4-tile-64-dynamic.cu",
    "scratch": TESTS / "right/attention/19-two-launches-with-scratch.cu",
    "cooperative groups": TESTS / "right/attention/20-cooperative-groups.cu",
}
# Likewise: a struct by value, names without linkage, and variables of the module, by name and by address.
SMALL = ("struct", "hidden_names", "counter", "table")
LENGTH, FAMILY, SEED = 97, "spread", 6


@pytest.fixture(scope="module")
def other(target: Any) -> Iterator[GpuTarget]:
    """The same card with NVRTC."""
    found = GpuTarget(compiler=compiling.nvrtc)
    if missing := found.available():
        pytest.skip(missing)
    assert found.card.compiler.startswith("NVRTC")
    yield found
    found.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_values_do_not_depend_on_the_compiler(target: Any, other: GpuTarget, name: str) -> None:
    step = STEP["causal-attention"]
    case = subject(step.name).make(LENGTH, FAMILY, SEED)
    answer = subject(step.name).answers(case)[0]
    program = cuda.load(FILES[name], step)
    job = schedule.fast_job(step, case)
    runs = [where.run(where.build(program), job) for where in (target, other)]
    assert [run.ended for run in runs] == ["finished", "finished"], runs[1].says
    by_nvcc, by_nvrtc = (run.outputs["attnOut"].astype(np.float64) for run in runs)
    assert np.all(np.abs(by_nvcc - by_nvrtc) <= answer.tolerance / 4)
    assert np.all(np.abs(by_nvrtc - answer.want) <= answer.tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_what_a_compiler_may_name_or_lay_out_its_own_way(target: Any, other: GpuTarget, name: str) -> None:
    program = cuda.load(SUBMISSIONS / f"{name}.cu", STEP_OF_ALL)
    for where in (target, other):
        run = where.run(where.build(program), small_job())
        assert run.ended == "finished", run.says
        assert run.findings == ()
        assert np.allclose(run.outputs["y"], RIGHT[name](), rtol=1e-6, atol=1e-6), where.card.compiler
