"""From a file to a verdict: load, build, run the cases, compare, name what is wrong."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tilestep import contract
from tilestep.frontends import cuda
from tilestep.frontends.reading import LARGEST_FILE
from tilestep.judge import verdict
from tilestep.judge.compare import earliest_wrong
from tilestep.judge.decide import decide, describe_runs
from tilestep.judge.diagnose import merge_findings, name_mistakes
from tilestep.judge.gathered import Stopped
from tilestep.judge.race import MOST_PAIRS, PAIRS
from tilestep.judge.schedule import Progress, drawn_beyond, drawn_length
from tilestep.judge.seams import DEFAULT_STEP
from tilestep.judge.speed import FEWEST
from tilestep.judge.trial import Trial
from tilestep.judge.verdict import Submission, TargetName, Verdict
from tilestep.program import SubmissionError
from tilestep.subjects import subject
from tilestep.targets.cpu import CpuTarget
from tilestep.targets.protocol import Target, TargetUnavailableError


def judge(
    file: str | Path,
    step: str = DEFAULT_STEP,
    *,
    seed: int | None = None,
    lengths: Sequence[int] | None = None,
    profile: bool = True,
    target: Target | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    fail_fast: bool = False,
    pairs: int = PAIRS,
) -> Verdict:
    """Judges a `.cu` file for a step; whatever is wrong with the file is in the verdict.

    `lengths` are the small lengths, each from 1 to the step's longest (default: the step's own, and one more
    that the seed draws); `profile` judges the profile length too, where the step has one and all of them are
    right. `seed` fixes the values that are fed. `fail_fast` stops at the first wrong case. `pairs` are timed
    where the target has a clock and the step a speed gate. Raises KeyError for an unknown step, ValueError
    for a length or a number of pairs out of range, RuntimeError where the baseline goes wrong, and VoidCase
    if a case of ours could be passed by a wrong answer.
    """
    wanted = contract.STEP[step]
    asked = subject(step)
    seed = secrets.randbelow(2**32) if seed is None else seed
    usual = (*asked.lengths, drawn_length(asked, seed)) if lengths is None else lengths
    chosen = tuple(sorted(set(usual)))
    if not all(1 <= n <= asked.longest for n in chosen):
        raise ValueError(f"a length is a whole number from 1 to {asked.longest}")
    if not FEWEST <= pairs <= MOST_PAIRS:
        raise ValueError(f"the number of pairs is from {FEWEST} to {MOST_PAIRS}")
    if asked.profile in chosen:
        chosen, profile = chosen[:-1], True
    target = CpuTarget() if target is None else target
    tell = on_progress or (lambda _: None)

    facts: dict[str, Any] = {"step": step, "seed": seed, "target": TargetName(target.kind, target.name)}
    path = Path(file)
    facts["submission"] = Submission(str(file), "")
    tell(Progress(0, 0, "reading"))
    try:
        program = cuda.load(path, wanted)
        facts["submission"] = Submission(program.file, program.sha256, program.language)
        mending = target.available()
        if mending is not None:
            return verdict.Unavailable(says=mending, **facts)
        tell(Progress(0, 0, "compiling"))
        built = target.build(program)
    except SubmissionError as error:
        if not facts["submission"].sha256:
            facts["submission"] = Submission(str(file), _sha256(path))
        failed = verdict.Broken if error.outcome == "broken" else verdict.Refused
        return failed(says=str(error), **facts)
    except TargetUnavailableError as error:
        return verdict.Unavailable(says=str(error), **facts)

    last = asked.profile if profile else None
    beyond = drawn_beyond(asked, seed) if lengths is None else None
    trial = Trial(wanted, program, target, built, seed, chosen, last, fail_fast, tell, beyond, pairs)
    try:
        trial.run_all()
    except Stopped as stopped:
        return _stopped(stopped, trial, facts)
    except TargetUnavailableError as error:  # what was there at the start is not any more: no verdict
        return verdict.Unavailable(says=str(error), **facts)
    if trial.wrong:
        trial.say("naming the mistake")
    return decide(trial, facts)


def _stopped(stopped: Stopped, trial: Trial, facts: dict[str, Any]) -> Verdict:
    """A run crashed, hung or was refused: what the runs before it showed is kept."""
    if stopped.outcome == "refused":
        return verdict.Refused(says=str(stopped), **facts)
    return verdict.Broken(
        says=str(stopped),
        cases=tuple(case.result() for case in trial.compared),
        findings=merge_findings(trial.findings),
        first_wrong=earliest_wrong(trial.compared),
        mistakes=name_mistakes(trial.seen),
        evidence=describe_runs(trial),
        **facts,
    )


def _sha256(path: Path) -> str:
    """The hash of a refused file's bytes; "" for what is no file (a pipe has no end), or is too large."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError):
        return ""
    return hashlib.sha256(data).hexdigest() if len(data) <= LARGEST_FILE else ""
