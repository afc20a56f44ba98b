"""Judges several kernels together: a person's own steps in the whole block."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tilestep.contract import STEP
from tilestep.frontends import cuda
from tilestep.frontends.reading import read_source
from tilestep.judge import schedule, verdict
from tilestep.judge.chain import Chain, run_block
from tilestep.judge.compare import ComparedCase, earliest_wrong
from tilestep.judge.decide import UNCHECKED, describe_speed, say_unsafe, say_wrong
from tilestep.judge.diagnose import merge_findings, name_mistakes
from tilestep.judge.gathered import Stopped
from tilestep.judge.schedule import Progress
from tilestep.judge.seams import has_seam
from tilestep.judge.trial import Trial
from tilestep.judge.trusted import CALLS, KERNELS, TrustedKernels
from tilestep.judge.verdict import Submission, TargetName, Verdict
from tilestep.program import SubmissionError
from tilestep.targets.cpu import CpuTarget
from tilestep.targets.protocol import Target, TargetUnavailableError

STEP_NAME = "block"  # stands in for a step's name in the verdict
LENGTHS = (1, 33, 65)
CHECKED_LENGTH = 2  # where the checkers run too, in one thread order


def judge_block(
    files: Sequence[str | Path],
    *,
    seed: int | None = None,
    lengths: Sequence[int] | None = None,
    target: Target | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Verdict:
    """Judges the files' seams in the whole block; what no file defines comes from the reference, and on a GPU
    from our own kernels.

    The earliest wrong tensor is named, and the file whose kernel made it stands in the verdict. Raises
    ValueError where two files define one seam, or no file is given.
    """
    if not files:
        raise ValueError("the block needs at least one file")
    seed = secrets.randbelow(2**32) if seed is None else seed
    target = CpuTarget() if target is None else target
    tell = on_progress or (lambda _: None)
    names = tuple(str(file) for file in files)
    facts: dict[str, Any] = {"step": STEP_NAME, "seed": seed}
    facts["target"] = TargetName(target.kind, target.name)
    facts["submission"] = Submission(names[0], "", files=names)
    tell(Progress(0, 0, "reading"))
    try:
        by_step = _steps_of(names)
        mending = target.available()
        if mending is not None:
            return verdict.Unavailable(says=mending, **facts)
        trials: dict[str, Trial] = {}
        for step, file in by_step.items():
            facts["submission"] = Submission(file, "", files=names)
            program = cuda.load(Path(file), STEP[step])
            facts["submission"] = Submission(program.file, program.sha256, program.language, names)
            tell(Progress(len(trials), len(by_step), f"compiling {program.file}"))
            built = target.build(program)
            trials[step] = Trial(STEP[step], program, target, built, seed, (), None, False, tell)
        ours = None
        if not target.checks:  # a GPU: no tensor comes from elsewhere
            tell(Progress(len(by_step), len(by_step), "compiling our own kernels"))
            ours = TrustedKernels(target)
            ours.build_all(step for step in KERNELS if step not in trials)
        return _run(trials, ours, seed, lengths, facts, tell)
    except SubmissionError as error:
        failed = verdict.Broken if error.outcome == "broken" else verdict.Refused
        return failed(says=str(error), **facts)
    except TargetUnavailableError as error:
        return verdict.Unavailable(says=str(error), **facts)


def _steps_of(files: Sequence[str]) -> dict[str, str]:
    """The file of each step of the block. Raises SubmissionError for a file that has no seam of it."""
    found: dict[str, str] = {}
    steps = tuple(dict.fromkeys(call.step.name for call in CALLS))
    for file in files:
        source = read_source(Path(file))
        seams = [step for step in steps if has_seam(source.text, step)]
        if not seams:
            wanted = ", ".join(STEP[step].seam.function for step in steps)
            raise SubmissionError(f"no seam of the block is in it: {wanted}", file=source.name)
        for step in seams:
            if step in found:
                raise ValueError(f"{file} and {found[step]} both define {STEP[step].seam.function}")
            found[step] = file
    return {step: found[step] for step in steps if step in found}


def _run(
    trials: dict[str, Trial],
    ours: TrustedKernels | None,
    seed: int,
    lengths: Sequence[int] | None,
    facts: dict[str, Any],
    tell: Callable[[Progress], None],
) -> Verdict:
    checked = () if ours else (CHECKED_LENGTH,)
    chosen = sorted({*(LENGTHS if lengths is None else lengths), *checked})
    tasks = [partial(run_block, trials, n, seed, checked=n in checked, ours=ours) for n in chosen]
    chains: list[Chain] = []
    tell(Progress(0, len(tasks), "the first length"))
    with schedule.running(tasks, workers=schedule.cores()) as results:
        for chain in results:
            chains.append(chain)
            tell(Progress(len(chains), len(tasks), f"T = {chain.length}"))
            for trial, run in chain.runs:
                try:
                    trial.keep(run, chain.length)
                except Stopped as stopped:
                    return _stopped(stopped, trial, chains, facts)
    return _decide(trials, ours, chains, facts)


def _shared(trials: Sequence[Trial], chains: Sequence[Chain]) -> dict[str, Any]:
    cases = _compared(chains)
    findings = merge_findings(finding for trial in trials for finding in trial.findings)
    return {"cases": tuple(case.result() for case in cases), "findings": findings}


def _compared(chains: Sequence[Chain]) -> list[ComparedCase]:
    return [chain.case for chain in chains if chain.compared]


def _stopped(stopped: Stopped, trial: Trial, chains: Sequence[Chain], facts: dict[str, Any]) -> Verdict:
    """A run of one kernel crashed, hung or was refused: the verdict is about its file."""
    facts = {**facts, "submission": _about(trial, facts)}
    if stopped.outcome == "refused":
        return verdict.Refused(says=str(stopped), **facts)
    return verdict.Broken(says=str(stopped), **_shared([trial], chains), **facts)


def _decide(
    trials: dict[str, Trial], ours: TrustedKernels | None, chains: Sequence[Chain], facts: dict[str, Any]
) -> Verdict:
    shared = _shared(list(trials.values()), chains)
    shared["evidence"] = _evidence(trials, ours, chains, facts)
    cases = _compared(chains)
    first = earliest_wrong(cases)
    if first is not None:
        call = next((call for call in CALLS if call.makes == first.tensor), None)
        at_fault = trials.get(call.step.name) if call else None
        if at_fault is not None:
            facts = {**facts, "submission": _about(at_fault, facts)}
        seen = [s for chain in chains for s in chain.seen if call and s.expected.case.step == call.step.name]
        named = name_mistakes(seen)
        says = say_wrong("T", first, named, shared["findings"])
        if at_fault is not None:
            says = f"{at_fault.program.file}: {says}"
        return verdict.Wrong(first_wrong=first, mistakes=named, says=says, **shared, **facts)
    if shared["findings"]:
        return verdict.Unsafe(says=say_unsafe(shared["findings"]), **shared, **facts)
    count = len(trials)
    kernels = f"{count} step{'s' if count > 1 else ''} of yours"
    found = "" if ours else ", with no finding"  # on a GPU no checker ran
    says = f"The block is right at every length with {kernels}{found}."
    return verdict.Passed(says=says, **shared, **facts)


def _about(trial: Trial, facts: dict[str, Any]) -> Submission:
    program = trial.program
    return Submission(program.file, program.sha256, program.language, facts["submission"].files)


def _evidence(
    trials: dict[str, Trial], ours: TrustedKernels | None, chains: Sequence[Chain], facts: dict[str, Any]
) -> tuple[str, ...]:
    steps = tuple(dict.fromkeys(call.step.name for call in CALLS))
    yours = [f"{step} from {trials[step].program.file}" for step in steps if step in trials]
    missing = [step for step in steps if step not in trials]
    lines = [f"seed: {facts['seed']}", f"yours: {', '.join(yours)}"]
    if missing:
        lines.append(f"{'our kernels' if ours else 'reference'}: {', '.join(missing)}")
    lengths = ", ".join(str(chain.length) for chain in chains)
    lines.append(f"values: every tensor of yours against float64, T = {lengths}")
    lines.append(UNCHECKED if ours else f"checkers: at T = {CHECKED_LENGTH}, in one thread order")
    return (*lines, *describe_speed(facts["target"].kind))
