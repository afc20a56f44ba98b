"""Which step a file is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilestep import kernels
from tilestep.contract import STEP, STEPS
from tilestep.judge import DEFAULT_STEP, step_of

SEAM = "void {}(const float* x) {{}}\n"


@pytest.mark.parametrize("name", kernels.names())
def test_our_kernels_say_their_step(name: str) -> None:
    folder = name.split("/")[0]
    assert STEP[step_of(kernels.path(name))].kernels == folder


def test_the_two_steps_of_attention_have_one_seam_and_mean_the_capstone() -> None:
    assert STEPS[-1].name == DEFAULT_STEP
    assert step_of(kernels.path("attention/01_serial.cu")) == DEFAULT_STEP


def test_a_file_without_a_seam_or_with_several_is_taken_for_the_capstone(tmp_path: Path) -> None:
    file = tmp_path / "a.cu"
    assert step_of(file) == DEFAULT_STEP  # not there
    file.write_text("__global__ void k() {}\n", encoding="utf-8")
    assert step_of(file) == DEFAULT_STEP
    file.write_text(SEAM.format("runRope"), encoding="utf-8")
    assert step_of(file) == "rope"
    file.write_text(SEAM.format("runRope") + SEAM.format("runSwiGlu"), encoding="utf-8")
    assert step_of(file) == DEFAULT_STEP
    file.write_text(SEAM.format("runRopes"), encoding="utf-8")
    assert step_of(file) == DEFAULT_STEP
