"""The judge's decisions, with a target that computes attention in NumPy and can be told to err."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tilestep import contract, reference
from tilestep.judge import Progress, judge
from tilestep.judge.traffic import baseline_kv_bytes
from tilestep.program import Finding, Job, Launch, LaunchPlan, Program, Run, SubmissionError, Traffic

SOURCE = """__global__ void attend(const float* qkv, float* out, int T) { out[threadIdx.x] = qkv[0]; }
void runCausalAttention(const float* qkv, float* attnOut, int T) { attend<<<1, 32>>>(qkv, attnOut, T); }
"""
FEW = (1, 33)

Change = Callable[[np.ndarray, Job], np.ndarray]


def keep(out: np.ndarray, _: Job) -> np.ndarray:
    return out


@dataclass
class FakeTarget:
    """Runs attention in float64; `change` spoils the output, `ends` ends a run early."""

    change: Change = keep
    ends: Callable[[Job], Run | None] = lambda _: None
    findings: tuple[Finding, ...] = ()
    cut: float = 31.5
    ready: str | None = None
    error: SubmissionError | None = None
    kind: str = "cpu"
    name: str = "a fake"
    runs: int = 0
    checks: bool = True

    def available(self) -> str | None:
        return self.ready

    def build(self, program: Program) -> Program:
        if self.error:
            raise self.error
        return program

    def run(self, built: Program, job: Job) -> Run:
        self.runs += 1
        ended = self.ends(job)
        if ended is not None:
            return ended
        qkv, out = job.buffers
        assert qkv.data is not None
        assert (out.role, out.rows, out.width, out.data) == ("out", job.sizes[0], contract.D, None)
        with np.errstate(all="ignore"):
            right = reference.attention(qkv.data).astype(np.float32)
        counted = int(baseline_kv_bytes(job.sizes[0]) / 2 / self.cut)
        return Run(
            "finished",
            outputs={"attnOut": self.change(right, job)},
            findings=self.findings if job.mode == "check" else (),
            plan=LaunchPlan((Launch("attend", (1, 1, 1), (32, 1, 1), 0, 2),)),
            traffic=Traffic({("qkv", "K"): counted, ("qkv", "V"): counted})
            if job.mode == "traffic"
            else None,
            accesses=100,
        )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "attention.cu"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def test_a_right_kernel_passes_and_its_runs_are_counted(file: Path) -> None:
    told: list[Progress] = []
    verdict = judge(file, seed=1, lengths=FEW, profile=False, target=FakeTarget(), on_progress=told.append)
    assert verdict.outcome == "passed"
    assert verdict.exit_code == 0
    assert [case.ok for case in verdict.cases] == [True] * len(verdict.cases)
    assert {case.length for case in verdict.cases} == set(FEW)
    assert all(list(case.tensors) == ["attention_output", "block_output"] for case in verdict.cases)
    assert "checkers: 6 runs in 3 thread orders, 600 accesses, no finding" in verdict.evidence
    assert "not judged" in verdict.says  # the gate stands at the profile length
    assert "seed: 1" in verdict.evidence
    assert told[-1].done == told[-1].total == 6 + len(verdict.cases)


def test_the_profile_length_is_judged_and_its_bytes_are_held_against_the_gate(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "PROFILE_LENGTH", 200)
    passed = judge(file, seed=1, lengths=(1,), target=FakeTarget())
    assert passed.outcome == "passed"
    assert passed.traffic is not None
    assert passed.traffic.cut == pytest.approx(31.5, rel=1e-4)
    assert passed.cases[-1].length == contract.PROFILE_LENGTH
    slow = judge(file, seed=1, lengths=(1,), target=FakeTarget(cut=15.9))
    assert (slow.outcome, slow.exit_code) == ("slow", 1)
    ungated = judge(file, "causal-attention", seed=1, lengths=(1,), target=FakeTarget(cut=1))
    assert ungated.outcome == "passed"


def test_one_wrong_value_is_wrong_and_the_profile_length_is_left_out(file: Path) -> None:
    def spoil(out: np.ndarray, job: Job) -> np.ndarray:
        if job.sizes[0] == 33:
            out[32, 64 * 3 + 5] = 77.0
        return out

    verdict = judge(file, seed=1, lengths=FEW, target=FakeTarget(change=spoil))
    assert (verdict.outcome, verdict.exit_code) == ("wrong", 1)
    first = verdict.first_wrong
    assert first is not None
    assert (first.tensor, first.length, first.family) == ("attention_output", 33, "normal")
    assert (first.row, first.head, first.dim, first.got) == (32, 3, 5, 77.0)
    assert max(case.length for case in verdict.cases) == 33
    assert not any(case.ok for case in verdict.cases if case.length == 33 and case.family != "future-nan")


def test_fail_fast_stops_at_the_first_wrong_case(file: Path) -> None:
    verdict = judge(
        file, seed=1, target=FakeTarget(change=lambda out, _: out * np.float32(2)), fail_fast=True
    )
    assert verdict.outcome == "wrong"
    assert len(verdict.cases) == 1


def test_nan_is_wrong(file: Path) -> None:
    verdict = judge(
        file, seed=1, lengths=(2,), target=FakeTarget(change=lambda out, _: np.full_like(out, np.nan))
    )
    assert verdict.outcome == "wrong"


def test_right_values_with_a_finding_are_unsafe_and_findings_are_merged(file: Path) -> None:
    race = Finding("race-shared", "thread 1 reads what thread 2 wrote", str(file), 41, array="tile")
    verdict = judge(file, seed=1, lengths=FEW, target=FakeTarget(findings=(race,)))
    assert (verdict.outcome, verdict.exit_code) == ("unsafe", 1)
    assert [(f.code, f.line, f.count) for f in verdict.findings] == [("race-shared", 41, 6)]
    assert "attention.cu:41" in verdict.says
    assert verdict.traffic is None


def test_wrong_goes_before_unsafe_and_keeps_the_findings(file: Path) -> None:
    race = Finding("race-shared", "says", str(file), 41)
    target = FakeTarget(findings=(race,), change=lambda out, _: out + np.float32(1))
    verdict = judge(file, seed=1, lengths=(1,), target=target)
    assert verdict.outcome == "wrong"
    assert verdict.findings


def test_a_result_that_depends_on_the_thread_order_is_a_finding(file: Path) -> None:
    def wobble(out: np.ndarray, job: Job) -> np.ndarray:
        return np.nextafter(out, np.float32(9)) if job.order == "reverse" and job.mode == "check" else out

    verdict = judge(file, seed=1, lengths=(2,), profile=False, target=FakeTarget(change=wobble))
    assert verdict.outcome == "unsafe"
    assert [f.code for f in verdict.findings] == ["order-dependent"]
    assert "reverse order" in verdict.findings[0].says
    file.write_text(SOURCE + "// atomicAdd rounds as it comes\n", encoding="utf-8")
    assert (
        judge(file, seed=1, lengths=(2,), profile=False, target=FakeTarget(change=wobble)).outcome == "passed"
    )


def test_a_crash_is_broken_and_keeps_what_came_before(file: Path) -> None:
    def crash(job: Job) -> Run | None:
        return Run("crashed", "a null pointer", line=7) if job.sizes[0] == 33 else None

    verdict = judge(file, seed=1, lengths=FEW, target=FakeTarget(ends=crash))
    assert (verdict.outcome, verdict.exit_code) == ("broken", 2)
    assert verdict.says == f"{file}:7: a null pointer (T = 33)"
    assert {case.length for case in verdict.cases} == {1}


def test_a_seam_that_is_refused_at_run_time_is_refused(file: Path) -> None:
    def refuse(_: Job) -> Run:
        time.sleep(0.05)  # as a process does: what has not begun by then is not begun
        return Run("refused", "the seam waits for the device", line=2)

    target = FakeTarget(ends=refuse)
    verdict = judge(file, seed=1, lengths=FEW, target=target)
    assert (verdict.outcome, verdict.exit_code) == ("refused", 2)
    assert target.runs <= 4  # nothing goes on after it but what had begun


def test_what_does_not_load_or_compile(file: Path, tmp_path: Path) -> None:
    missing = judge(tmp_path / "nothing.cu", target=FakeTarget())
    assert (missing.outcome, missing.exit_code, missing.submission.sha256) == ("refused", 2, "")
    error = SubmissionError("no such name", file=str(file), line=3, outcome="broken")
    broken = judge(file, target=FakeTarget(error=error))
    assert (broken.outcome, broken.exit_code) == ("broken", 2)
    assert broken.says == f"{file}:3: no such name"
    assert len(broken.submission.sha256) == 64


def test_a_target_that_is_not_there(file: Path) -> None:
    verdict = judge(file, target=FakeTarget(ready="no C++ compiler: pip install 'tilestep[cc]'"))
    assert (verdict.outcome, verdict.exit_code) == ("unavailable", 4)
    assert "pip install" in verdict.says


def test_arguments_that_cannot_be(file: Path) -> None:
    with pytest.raises(KeyError):
        judge(file, "no-such-step", target=FakeTarget())
    with pytest.raises(KeyError):
        judge(file, "block", target=FakeTarget())
    with pytest.raises(ValueError, match="from 1 to"):
        judge(file, lengths=(0,), target=FakeTarget())


def test_the_same_seed_feeds_the_same_values_and_no_seed_fresh_ones(file: Path) -> None:
    fed: list[bytes] = []

    def note(out: np.ndarray, job: Job) -> np.ndarray:
        if job.mode == "fast":
            assert job.buffers[0].data is not None
            fed.append(job.buffers[0].data.tobytes())
        return out

    def inputs(seed: int | None) -> set[bytes]:
        fed.clear()
        judge(file, seed=seed, lengths=(1,), profile=False, target=FakeTarget(change=note))
        return set(fed)

    assert inputs(5) == inputs(5)
    assert inputs(None) != inputs(None)
