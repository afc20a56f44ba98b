"""`tilestep show timeline --target gpu`, on the fake driver."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from fake_driver import FakeCard

from tilestep import kernels
from tilestep.cli import cli
from tilestep.inspect import times
from tilestep.targets.gpu import GpuTarget

FILE = str(kernels.path("attention/02_cooperative.cu"))
KERNELS = [
    "normWarp",
    "projectTiled",
    "rotateQuads",
    "projectAndAdd",
    "normWarp",
    "swigluTiled",
    "projectAndAdd",
]


def test_the_times_of_a_block_and_their_trace(
    fake_card: FakeCard, gpu_target: GpuTarget, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_card.describe(l2=32 * 1024**2)  # little to flush
    monkeypatch.setattr(times, "REPEATS", 3)
    monkeypatch.setattr("tilestep.targets.gpu.GpuTarget", lambda: gpu_target)
    trace = tmp_path / "trace.json"
    words = ["show", "timeline", FILE, "--target", "gpu", "--length", "2", "--trace", str(trace), "--json"]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [lane["name"] for lane in found["lanes"]] == ["block with our kernels", f"block with {FILE}"]
    for lane, attention in zip(found["lanes"], ("attendOnline", "attendCooperative"), strict=True):
        launches = lane["launches"]
        assert [one["kernel"] for one in launches] == [*KERNELS[:3], attention, *KERNELS[3:]]
        assert all(0.0 < one["fastest"] <= one["ms"] <= one["slowest"] for one in launches)
        assert lane["ms"] == pytest.approx(sum(one["ms"] for one in launches))
    assert found["card"] == gpu_target.name
    complete = [one for one in json.loads(trace.read_text())["traceEvents"] if one["ph"] == "X"]
    assert [one["dur"] for one in complete[:3]] == pytest.approx(
        [1000 * one["ms"] for one in found["lanes"][0]["launches"][:3]]
    )


def test_a_full_card_is_told_in_one_sentence(
    fake_card: FakeCard, gpu_target: GpuTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_card.describe(l2=32 * 1024**2, memory=60_000_000)  # too little to flush L2
    monkeypatch.setattr("tilestep.targets.gpu.GpuTarget", lambda: gpu_target)
    result = CliRunner().invoke(cli, ["show", "timeline", FILE, "--target", "gpu", "--length", "2"])
    assert result.exit_code == 4
    assert "no memory left" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("files", [[], [FILE]])
def test_without_a_gpu_it_says_what_is_missing(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GpuTarget, "available", lambda _: "there is no NVIDIA driver here")
    result = CliRunner().invoke(cli, ["show", "timeline", *files, "--target", "gpu"])
    assert result.exit_code == 4
    assert result.stderr.strip() == "tilestep show timeline: there is no NVIDIA driver here"
