"""A submission that is looked at: read and compiled once, run as often as an instrument needs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from tilestep import contract
from tilestep.contract import Step
from tilestep.frontends import cuda
from tilestep.judge import schedule
from tilestep.judge.expect import Expectations, Expected
from tilestep.program import Job, Piece, Program, Run, SubmissionError
from tilestep.subjects import Case, Subject, registered, subject
from tilestep.targets.protocol import Built, Target

DEFAULT_SEED = 1  # fixed: what is looked at twice should be the same


class CannotLook(Exception):  # noqa: N818
    """What was asked for cannot be shown: one sentence, with the file and line where there is one."""


class NoTarget(Exception):  # noqa: N818
    """There is nothing here to run on; the text holds the command that mends it."""


def step_of(file: str | Path) -> str:
    """The step whose seam a file defines, by its name in the text; the first one where steps share a seam.

    Raises CannotLook where there is none, or the file cannot be read.
    """
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise CannotLook(f"{file}: {error.strerror or error}") from error
    for step in registered():
        if re.search(rf"\b{contract.STEP[step].seam.function}\s*\(", text):
            return step
    seams = ", ".join(dict.fromkeys(contract.STEP[step].seam.function for step in registered()))
    raise CannotLook(f"{file}: no seam is defined here; a submission defines one of {seams}")


@dataclass
class Session:
    """A built submission, with the cases of its step."""

    step: Step
    subject: Subject
    program: Program
    target: Target
    built: Built
    seed: int

    def __post_init__(self) -> None:
        self._expectations = Expectations(self.step, self.seed)

    def case(self, length: int, family: str) -> Case:
        """The case that is fed. Raises CannotLook for a length or family that the step has not."""
        return self.subject.make(length, self._family(length, family), self.seed)

    def expected(self, length: int, family: str) -> Expected:
        """The case with its right answers. Raises CannotLook for a length or family that the step has not."""
        return self._expectations.of(length, self._family(length, family))

    def values(self, case: Case) -> Run:
        """Runs the case at full speed. Raises CannotLook if the run does not finish."""
        return self._finished(schedule.fast_job(self.step, case, schedule.cores()), case)

    def watched(self, case: Case, piece: Piece | None = None, sample: int = 0) -> Run:
        """Runs the case watching: see program.Job. Raises CannotLook if the run does not finish."""
        checked = schedule.checked_job(self.step, case, "forward")
        # At a great length even a right kernel makes more accesses than that: time is the limit then.
        budget = checked.budget if case.length <= max(self.subject.lengths) else 0
        job = replace(checked, mode="watch", watch=piece, sample=sample, budget=budget)
        return self._finished(job, case)

    def _finished(self, job: Job, case: Case) -> Run:
        run = self.target.run(self.built, job)
        if run.ended == "finished":
            return run
        says = run.findings[-1].says if run.ended == "crashed" and run.findings else run.says
        line = run.line or (run.findings[-1].line if run.findings else None)
        place = f"{self.program.file}:{line}" if line else self.program.file
        raise CannotLook(f"{place}: {says} ({self.step.length_name} = {case.length})")

    def _family(self, length: int, family: str) -> str:
        longest = self.subject.longest
        name = self.step.length_name
        if not 1 <= length <= longest:
            raise CannotLook(f"{name} = {length} is not a length of {self.step.name}: 1 to {longest}")
        known = self.subject.families(length)
        if family not in known:
            raise CannotLook(
                f"no family {family!r} is fed to {self.step.name} at {name} = {length}; "
                f"the families are {', '.join(known)}"
            )
        return family


def open_session(file: str | Path, step: str | None, seed: int, target: Target) -> Session:
    """Reads and builds a file for a step, by default the one whose seam it defines.

    Raises CannotLook for a file that is refused or does not compile, NoTarget where nothing can run.
    """
    name = step_of(file) if step is None else step
    try:
        program = cuda.load(Path(file), contract.STEP[name])
        if mending := target.available():
            raise NoTarget(mending)
        built = target.build(program)
    except SubmissionError as error:
        raise CannotLook(str(error)) from error
    return Session(contract.STEP[name], subject(name), program, target, built, seed)
