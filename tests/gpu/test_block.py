"""The whole block on a GPU: a person's kernels between ours, and the times of all launches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tilestep import contract, kernels
from tilestep.inspect.times import time_block, time_files
from tilestep.judge import judge_block
from tilestep.report.trace import trace_events

MADE = ["normed", "qkv", "qkv_rotated", "attention_output", "normed_2", "activated", "block_output"]
FILES = ("rmsnorm/02_block.cu", "qkv-projection/01_naive.cu", "rope/01_pairs.cu", "swiglu/01_naive.cu")


def test_a_block_of_a_persons_kernels(target: Any) -> None:
    files = [kernels.path(name) for name in (*FILES, "attention/02_cooperative.cu")]
    verdict = judge_block(files, seed=4, lengths=(1, 33, 128), target=target)
    assert verdict.outcome == "passed", verdict.says
    assert [case.length for case in verdict.cases] == [1, 33, 128]
    assert all(list(case.tensors) == MADE for case in verdict.cases)
    assert all(case.ratio <= 0.5 for case in verdict.cases)


def test_one_kernel_between_ours(target: Any) -> None:
    verdict = judge_block([kernels.path("rope/01_pairs.cu")], seed=4, lengths=(65,), target=target)
    assert verdict.outcome == "passed", verdict.says
    assert list(verdict.cases[0].tensors) == ["qkv_rotated", "block_output"]
    ours = "our kernels: rmsnorm, qkv-projection, causal-attention, swiglu"
    assert ours in verdict.evidence


def test_the_earliest_wrong_tensor_names_the_file(target: Any, tmp_path: Path) -> None:
    wrong = tmp_path / "rope.cu"
    text = kernels.path("rope/01_pairs.cu").read_text(encoding="utf-8")
    assert "sinTable[" in text
    wrong.write_text(text.replace("sinTable[", "-sinTable["), encoding="utf-8")
    files = [kernels.path("attention/03_online.cu"), wrong, kernels.path("rmsnorm/01_serial.cu")]
    verdict = judge_block(files, seed=4, lengths=(33,), target=target)
    assert verdict.outcome == "wrong"
    assert verdict.first_wrong.tensor == "qkv_rotated"
    assert [mistake.code for mistake in verdict.mistakes] == ["rope-sin-sign"]
    assert verdict.submission.file == str(wrong)


def test_the_timeline_at_the_profile_length(target: Any, measured: dict[str, Any]) -> None:
    found = time_block(1, target, None)
    measured["timeline_ms"] = {
        lane.name: {f"{n} {bar.kernel}": round(bar.ms, 5) for n, bar in enumerate(lane.bars)}
        for lane in found.lanes
    }
    assert found.length == contract.PROFILE_LENGTH
    serial, cooperative, online = (lane.bars[3].ms for lane in found.lanes)
    assert serial > 3 * cooperative > 9 * online > 0.0
    for lane in found.lanes:
        assert [bar.step for bar in lane.bars].count("projection") == 2
        assert all(0.0 < bar.fastest <= bar.ms <= bar.slowest for bar in lane.bars)
    complete = [event for event in trace_events(found)["traceEvents"] if event["ph"] == "X"]
    assert len(complete) == sum(len(lane.bars) for lane in found.lanes)


@pytest.mark.slow
def test_a_persons_kernel_in_the_timeline(target: Any) -> None:
    file = str(kernels.path("rmsnorm/01_serial.cu"))
    ours, theirs = time_files([file], None, 1, target, 128).lanes
    changed = [n for n, (a, b) in enumerate(zip(ours.bars, theirs.bars, strict=True)) if a.kernel != b.kernel]
    assert changed == [0, 5]
