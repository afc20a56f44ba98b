"""What nvcc calls kernels and variables, beside what the recorder and the stand-ins call them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fake_driver import SUBMISSIONS, FakeCard, StandIns

from tilestep import contract, kernels
from tilestep.contract import PROJECTION, STEP, Step
from tilestep.frontends.cuda import load
from tilestep.program import Buffer, Job
from tilestep.targets.gpu import GpuTarget
from tilestep.targets.gpu.compile import find_nvcc, nvcc
from tilestep.targets.gpu.images import normalised

T = 3
WIDTH = max(contract.QKV_OUT, contract.F)
THEIRS = [file for file in sorted(SUBMISSIONS.glob("*.cu")) if file.stem != "depends_on_addresses"]
OURS = [
    file
    for file in sorted(kernels.root().glob("*/*.cu"))
    if (SUBMISSIONS / f"{file.parent.name}_{file.stem}.cpp").exists()
]


@pytest.fixture
def by_nvcc(fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch) -> Iterator[GpuTarget]:
    """A target that compiles with nvcc, for a card that could not run it, and is not asked to."""
    if find_nvcc() is None:
        pytest.skip("there is no nvcc here")
    monkeypatch.setattr(GpuTarget, "_try_out", lambda self, compiler: None)
    target = GpuTarget(compiler=nvcc)
    yield target
    target.close()


def step_of(file: Path) -> Step:
    if file.parent.name == kernels.BETWEEN:
        return PROJECTION
    if "runCausalAttention" in file.read_text():
        return STEP["causal-attention"]
    return STEP.get(file.parent.name, STEP["rmsnorm"])


def job(step: Step) -> Job:
    """Recorded only, so the buffers may be wider than the seam's."""
    data = np.zeros((T, WIDTH), np.float32)
    buffers = (Buffer(pointer.name, T, WIDTH, pointer.role, data) for pointer in step.seam.pointers)
    sizes = tuple({"T": T, "K": contract.D}[size.name] for size in step.seam.sizes)
    return Job(tuple(buffers), sizes, mode="record", scratch_bytes=1 << 24)


@pytest.mark.parametrize("file", [*THEIRS, *OURS], ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_every_launch_finds_its_kernel_and_every_stand_in_has_its_names(
    by_nvcc: GpuTarget, file: Path
) -> None:
    built = by_nvcc.build(load(file, step_of(file)))
    done = by_nvcc.run(built, job(step_of(file)))
    assert done.ended == "finished", done.says
    symbols = {launch.symbol for launch in done.plan.launches}
    names = built.image.kernel_names(symbols)
    assert set(names) == symbols
    stand_in = StandIns().image(built.program)
    assert {normalised(name) for name in names.values()} <= {normalised(name) for name in stand_in.kernels}
    assert set(stand_in.variables) <= set(built.image.variables)
