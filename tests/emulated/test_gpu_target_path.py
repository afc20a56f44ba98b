"""The path where TILESTEP_TARGET says: a stage on a GPU that the fake driver plays, and on both."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fake_driver import FakeCard

from tilestep import kernels
from tilestep.cli import cli, options
from tilestep.judge.decide import UNCHECKED
from tilestep.path import catalogue
from tilestep.path.workspace import Workspace, create
from tilestep.targets.cpu import CpuTarget
from tilestep.targets.gpu import GpuTarget

STAGE = catalogue.stage("rmsnorm")
SOLUTION = kernels.path("rmsnorm/03_warp.cu").read_text(encoding="utf-8")  # of those that have a stand-in


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpu_target: GpuTarget) -> Workspace:
    """A workspace where a stage is solved, and our target in the place of the real one."""
    monkeypatch.setitem(options.TARGETS, "gpu", lambda: gpu_target)
    create(tmp_path / "path")
    made = Workspace(tmp_path / "path")
    made.file(STAGE).write_text(SOLUTION, encoding="utf-8")
    monkeypatch.chdir(made.root)
    return made


def call(monkeypatch: pytest.MonkeyPatch, target: str) -> Result:
    monkeypatch.setenv("TILESTEP_TARGET", target)
    return CliRunner().invoke(cli, ["--step", STAGE.step], prog_name="tilestep")


def test_a_stage_is_judged_on_the_gpu(inside: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CpuTarget, "build", None)
    result = call(monkeypatch, "gpu")
    assert result.exit_code == 0, result.output
    assert f"Stage {STAGE.number} is passed." in result.stdout
    assert UNCHECKED.removeprefix("checkers: ") in result.stdout
    assert inside.progress.read().passed(STAGE.step)


def test_a_stage_is_judged_on_both(
    inside: Workspace, fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = call(monkeypatch, "both")
    assert result.exit_code == 0, result.output
    assert "On the CPU the checkers find nothing." in " ".join(result.stdout.split())
    assert "--target both" in next(line for line in result.stdout.splitlines() if line.startswith("again"))


def test_without_a_card_nothing_is_judged(
    inside: Workspace, fake_card: FakeCard, gpu_target: GpuTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_card.describe(devices=0)
    gpu_target.close()
    result = call(monkeypatch, "gpu")
    assert result.exit_code == 4
    assert "no NVIDIA GPU" in result.output
    assert not inside.progress.read().passed(STAGE.step)
