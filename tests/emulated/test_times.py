"""The lanes of a timeline of times, with the emulator in place of a GPU and made-up times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilestep import kernels
from tilestep.inspect.session import CannotLook, NoTarget
from tilestep.inspect.times import REPEATS, time_block, time_files
from tilestep.program import Job
from tilestep.targets.cpu import CpuTarget
from tilestep.targets.protocol import Built, Card, LaunchTime, Race

BLOCK = ["rmsnorm", "qkv-projection", "rope", "attention", "projection", "rmsnorm", "swiglu", "projection"]


class WithTimes(CpuTarget):
    """A launch takes a thousandth of a millisecond for each block of its grid, more in later calls."""

    kind = "gpu"
    checks = False
    card = Card("made-up", "0", (9, 0), 1, 1, 1, 0.0, 0, "none")

    def __init__(self, missing: str | None = None) -> None:
        super().__init__()
        self.missing = missing
        self.timed = 0

    def available(self) -> str | None:
        return self.missing

    def race(self, user: Built, baseline: Built, job: Job) -> Race:
        raise NotImplementedError

    def launch_times(self, built: Built, job: Job, repeats: int) -> tuple[LaunchTime, ...]:
        self.timed += 1
        run = self.run(built, job)
        if run.ended != "finished":
            raise RuntimeError(run.says)
        return tuple(
            LaunchTime(one.kernel, one.line, tuple(0.001 * one.grid[0] + n for n in range(repeats)))
            for one in run.plan.launches
        )


def steps(lane: object) -> list[str]:
    return [bar.step.replace("causal-", "").replace("online-", "") for bar in lane.bars]


def test_the_block_three_times_by_our_kernels() -> None:
    target = WithTimes()
    found = time_block(1, target, 33)
    assert [lane.name for lane in found.lanes] == [
        f"block with attention/0{n}_{name}.cu"
        for n, name in ((1, "serial"), (2, "cooperative"), (3, "online"))
    ]
    assert all(steps(lane) == BLOCK for lane in found.lanes)
    assert target.timed == len(BLOCK) - 1 + 3  # the other launches are timed once
    attention = [lane.bars[3] for lane in found.lanes]
    assert [bar.kernel for bar in attention] == ["attendSerial", "attendCooperative", "attendOnline"]
    serial = attention[0]
    assert serial.ms == pytest.approx(0.001 * 33 * 8 + (REPEATS - 1) / 2)
    assert (serial.fastest, serial.slowest) == pytest.approx((0.264, 0.264 + REPEATS - 1))
    assert found.length == 33


def test_a_persons_kernel_stands_in_its_step() -> None:
    files = [str(kernels.path("rmsnorm/01_serial.cu")), str(kernels.path("attention/01_serial.cu"))]
    found = time_files(files, None, 1, WithTimes(), 2)
    assert [lane.name for lane in found.lanes] == [
        "block with our kernels",
        *(f"block with {f}" for f in files),
    ]
    ours, norm, attention = ([bar.kernel for bar in lane.bars] for lane in found.lanes)
    changed = [
        [n for n, (a, b) in enumerate(zip(ours, other, strict=True)) if a != b] for other in (norm, attention)
    ]
    assert changed == [[0, 5], [3]]


def test_a_reduction_is_timed_by_itself() -> None:
    file = str(kernels.path("block-sum/02_tree.cu"))
    (lane,) = time_files([file], None, 1, WithTimes(), 33).lanes
    assert lane.name == file
    assert [bar.step for bar in lane.bars] == ["block-sum"]


def test_what_cannot_be_timed_is_one_sentence(tmp_path: Path) -> None:
    target = WithTimes()
    files = [str(kernels.path(name)) for name in ("block-sum/02_tree.cu", "rope/01_pairs.cu")]
    with pytest.raises(CannotLook, match="different paths"):
        time_files(files, None, 1, target, None)
    with pytest.raises(CannotLook, match="T = 4096 is not a length of the block: 1 to 2048"):
        time_block(1, target, 4096)
    with pytest.raises(CannotLook, match="not a length of block-sum"):
        time_files(files[:1], None, 1, target, 9999)
    crash = tmp_path / "crash.cu"
    text = kernels.path("rope/01_pairs.cu").read_text()
    assert "runRope(float* qkv," in text
    crash.write_text(text.replace("{\n", "{\n  if (threadIdx.x == 0) *(float*)nullptr = 1.0f;\n", 1))
    with pytest.raises(CannotLook, match=r"crash\.cu: "):
        time_files([str(crash)], None, 1, target, 1)
    with pytest.raises(NoTarget, match="no card"):
        time_block(1, WithTimes("there is no card"), 1)
