"""A verdict from a GPU alone says that no checkers ran, and claims nothing of what they would have found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tilestep.judge import judge
from tilestep.judge.both import judge_both
from tilestep.judge.decide import UNCHECKED
from tilestep.judge.verdict import Verdict


def judged(file: Path, target: Any, step: str = "online-attention", profile: bool = True) -> Verdict:
    return judge(file, step, seed=3, lengths=(2,), profile=profile, target=target)


def test_a_gpu_alone_says_that_no_checkers_ran(clock: Any, attention_file: Path) -> None:
    for step, profile in (
        ("online-attention", True),
        ("online-attention", False),
        ("causal-attention", False),
    ):
        verdict = judged(attention_file, clock(), step, profile)
        assert verdict.outcome == "passed"
        assert verdict.says.startswith("Right in all")
        assert "finding" not in verdict.says
        assert UNCHECKED in verdict.to_json()["evidence"]


def test_a_kernel_that_breaks_on_the_gpu_leaves_one_sentence(clock: Any, attention_file: Path) -> None:
    cpu = clock(checks=True)
    cpu.kind = "cpu"
    gpu = clock(run_ends=lambda job: "attend never ended")
    verdict = judge_both(lambda target: judged(attention_file, target, profile=False), cpu, gpu)
    assert verdict.outcome == "broken"
    assert verdict.says.endswith("attend never ended (T = 2)")


def test_both_tell_what_the_checkers_saw(clock: Any, attention_file: Path) -> None:
    cpu = clock(name="an emulator", checks=True)
    cpu.kind = "cpu"
    verdict = judge_both(lambda target: judged(attention_file, target, profile=False), cpu, clock())
    assert verdict.outcome == "passed"
    assert verdict.says.endswith("On the CPU the checkers find nothing.")
    (checkers,) = (line for line in verdict.evidence if line.startswith("checkers: "))
    assert checkers.startswith("checkers: 3 runs in 3 thread orders")
    assert checkers.endswith("no finding")
