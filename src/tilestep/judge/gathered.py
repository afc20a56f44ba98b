"""What the runs of one submission showed, and the rules that each of them is held to."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from tilestep.contract import Step
from tilestep.judge import schedule, workspace
from tilestep.judge.compare import ComparedCase
from tilestep.judge.diagnose import Seen
from tilestep.judge.expect import Expectations, Expected
from tilestep.judge.race import PAIRS
from tilestep.judge.runs import CANCELLED, runner
from tilestep.judge.schedule import Progress
from tilestep.judge.speed import RaceRecord
from tilestep.judge.verdict import KvTraffic
from tilestep.program import Finding, Job, Program, Run
from tilestep.subjects import subject
from tilestep.targets.protocol import Built, Target


class Stopped(Exception):  # noqa: N818
    """A run that did not finish: `outcome` is refused or broken, and the exception's text says why."""

    def __init__(self, outcome: str, says: str) -> None:
        super().__init__(says)
        self.outcome = outcome


@dataclass
class Gathered:
    """What the runs of a built program showed, in order."""

    step: Step
    program: Program
    target: Target
    built: Built
    seed: int
    lengths: tuple[int, ...]
    profile: int | None  # the length that is judged last, if all before it is right
    fail_fast: bool
    tell: Callable[[Progress], None]
    beyond: int | None = None  # a length between the small ones and the profile length, judged with it
    pairs: int = PAIRS  # that are timed, where there is a gate and a clock
    entropy: int = field(default_factory=lambda: secrets.randbits(128))  # of what timed calls are fed

    compared: list[ComparedCase] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unsteady: list[Finding] = field(default_factory=list)
    traffic: KvTraffic | None = None
    race: RaceRecord | None = None
    launches: int = 0
    checked_runs: int = 0
    accesses: int = 0

    def __post_init__(self) -> None:
        self._subject = subject(self.step.name)
        self._expectations = Expectations(self.step, self.seed)
        self._done = 0
        self._total = 0
        self._run = runner(self.target, self.built)

    @property
    def _clean(self) -> bool:
        return not (self.wrong or self.findings or self.unsteady)

    @property
    def wrong(self) -> bool:
        return any(tensor.wrong.any() for case in self.compared for tensor in case.tensors)

    def run(self, job: Job) -> Run:
        return self._run(job)

    def keep(self, run: Run, length: int) -> None:
        """Keeps a run's findings; raises Stopped if it did not finish or broke a rule of the step."""
        if run.ended == CANCELLED:
            return  # the run that did not finish is among those that are still to be kept
        self.findings.extend(run.findings)
        self.launches = max(self.launches, len(run.plan.launches))
        if run.ended == "refused":
            asked = sum(run.plan.scratch_bytes)
            too_much = asked > self.step.scratch_bytes_per_token * length
            says = workspace.describe(self.step, self._asked, (length, asked)) if too_much else run.says
            raise Stopped("refused", self._where(says, run.line))
        if run.ended == "crashed" and run.findings:
            fatal = run.findings[-1]  # a run ends at the first finding that it cannot go on from
            says = f"{fatal.code} at {self._at(length)}: {fatal.says}"
            raise Stopped("broken", self._where(says, fatal.line or run.line))
        if run.ended != "finished":
            raise Stopped("broken", self._where(f"{run.says} ({self._at(length)})", run.line))
        self._check_rules(run)

    def _asked(self, length: int) -> int:
        """Device memory that the seam asks for at a length, up to where it is refused."""
        case = self._subject.make(length, self._subject.families(length)[0], self.seed)
        return sum(self.run(schedule.fast_job(self.step, case)).plan.scratch_bytes)

    def _check_rules(self, run: Run) -> None:
        if any(finding.code == "launch-refused" for finding in run.findings):
            return  # that launch is missing from the plan, and the finding says more than its absence
        wanted, plan = self.step.launches, run.plan
        longest = self._subject.profile or max(self._subject.lengths)
        if says := workspace.too_large(self.step, plan.variables, longest):
            raise Stopped("refused", self._where(says))
        if wanted is not None and len(plan.launches) != wanted:
            raise Stopped(
                "refused",
                self._where(
                    f"{self.step.name} is exactly {wanted} launch, this seam makes {len(plan.launches)}"
                ),
            )

    def _at(self, length: int) -> str:
        return f"{self.step.length_name} = {length}"

    def _where(self, says: str, line: int | None = None) -> str:
        return f"{self.program.file}:{line}: {says}" if line else f"{self.program.file}: {says}"

    def _judge_values(self, compared: ComparedCase, expected: Expected) -> None:
        self.compared.append(compared)
        self.seen.append(Seen(expected, compared.tensors[: len(self.step.seam.outputs)]))

    def _step(self, doing: str) -> None:
        self._done += 1
        self.say(doing)

    def say(self, doing: str) -> None:
        """Tells whoever watches what is being done."""
        self.tell(Progress(self._done, self._total, doing))
