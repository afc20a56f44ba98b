"""The CPU's checkers first, then the GPU's clock: one verdict out of two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilestep.judge import verdict
from tilestep.judge.decide import UNCHECKED
from tilestep.judge.diagnose import merge_findings
from tilestep.judge.verdict import TargetName, Verdict
from tilestep.targets.protocol import Target

_ONLY_HERE = ("speed: not judged here", "seed: ")  # lines of the CPU's evidence that the GPU's replaces


def judge_both(judge_on: Callable[[Target], Verdict], cpu: Target, gpu: Target) -> Verdict:
    """The CPU's verdict if it is not passed, else the GPU's with what the CPU saw. Both gates must be met.

    `judge_on` judges the same file with the same seed on a target. Where there is no GPU nothing is judged.
    """
    if gpu.available() is not None:
        return judge_on(gpu)
    checked = judge_on(cpu)
    if checked.outcome != verdict.Passed.outcome:
        return checked
    timed = judge_on(gpu)
    if timed.outcome == verdict.Unavailable.outcome:
        return timed
    if timed.submission.sha256 != checked.submission.sha256:
        says = f"{timed.submission.file}: the file has changed while it was judged"
        return verdict.Refused(
            submission=timed.submission, step=timed.step, seed=timed.seed, target=timed.target, says=says
        )
    timed_evidence = (line for line in timed.evidence if line != UNCHECKED)
    return replace(
        timed,
        target=TargetName(gpu.kind, f"{timed.target.name}; {checked.target.name}"),
        findings=merge_findings((*checked.findings, *timed.findings)),
        traffic=checked.traffic,
        evidence=(*(line for line in checked.evidence if not line.startswith(_ONLY_HERE)), *timed_evidence),
        says=_join(timed.says),
    )


def _join(says: str) -> str:
    """What breaks a kernel on the GPU is no whole sentence, and stands alone."""
    return f"{says} On the CPU the checkers find nothing." if says.endswith(".") else says
