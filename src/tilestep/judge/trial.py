"""One submission's runs: everything they showed is gathered here, in order; nothing is decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from tilestep.contract import Step
from tilestep.judge import schedule, traffic, workspace
from tilestep.judge.compare import Compared, ComparedCase
from tilestep.judge.diagnose import Seen, order_dependence
from tilestep.judge.expect import Expectations, Expected
from tilestep.judge.schedule import Progress
from tilestep.judge.verdict import KvTraffic
from tilestep.program import Finding, Job, Program, Run
from tilestep.subjects import subject
from tilestep.targets.protocol import Built, Target


class Stopped(Exception):  # noqa: N818
    """A run that did not finish: `outcome` is refused or broken, and the exception's text says why."""

    def __init__(self, outcome: str, says: str) -> None:
        super().__init__(says)
        self.outcome = outcome


@dataclass(frozen=True)
class _Done:
    """A run at a small length. `order` is "" for the fast build."""

    expected: Expected
    order: str
    run: Run
    compared: ComparedCase | None = None
    written: tuple[Compared, ...] = ()


@dataclass
class Trial:
    """Runs a built program over its cases and keeps what came out."""

    step: Step
    program: Program
    target: Target
    built: Built
    seed: int
    lengths: tuple[int, ...]
    profile: int | None  # the length that is judged last, if all before it is right
    fail_fast: bool
    tell: Callable[[Progress], None]

    compared: list[ComparedCase] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unsteady: list[Finding] = field(default_factory=list)
    traffic: KvTraffic | None = None
    launches: int = 0
    checked_runs: int = 0
    accesses: int = 0

    def __post_init__(self) -> None:
        self._subject = subject(self.step.name)
        self._expectations = Expectations(self.step, self.seed)
        self._same_case: list[_Done] = []  # the thread orders of one case
        self._done = 0
        self._total = 0

    def run_all(self) -> None:
        """Every small length, each with the checkers in several thread orders and then at every family; then
        the profile length, if all of that was right.

        Raises Stopped at the first run that does not finish.
        """
        tasks = self._small_tasks()
        self._total = len(tasks) + (2 if self.profile else 0)
        self.say("the first case")
        with schedule.running(tasks, workers=schedule.cores()) as results:
            for done in results:
                self._take(done)
                if self.fail_fast and self.wrong:
                    return
        if self.profile and not self.wrong and not self.findings and not self.unsteady:
            self._run_profile(self.profile)

    @property
    def wrong(self) -> bool:
        return any(tensor.wrong.any() for case in self.compared for tensor in case.tensors)

    def _take(self, done: _Done) -> None:
        """Keeps what one small run showed. Results come in the order of the tasks."""
        self.keep(done.run, done.expected.case.length)
        if done.order:
            self.checked_runs += 1
            self.accesses += done.run.accesses
            self._same_case.append(done)
            if done.order == schedule.orders(self.seed)[-1]:
                self._compare_orders(self._same_case)
                self._same_case = []
        elif done.compared:
            self._judge_values(done.compared, done.expected)
        case = done.expected.case
        self._step(f"{self._at(case.length)}, {case.family}" + (", checked" if done.order else ""))

    # --- the small lengths ----------------------------------------------------------------------------------

    def _small_tasks(self) -> list[Callable[[], _Done]]:
        tasks: list[Callable[[], _Done]] = []
        with_checkers = dict(schedule.checked_cases(self._subject, self.lengths))
        families: dict[int, list[str]] = {}
        for length, family in schedule.fed_cases(self._subject, self.lengths):
            families.setdefault(length, []).append(family)
        for length in sorted(families):
            if length in with_checkers:
                family = with_checkers[length]
                tasks.extend(
                    partial(self._checked, length, family, order) for order in schedule.orders(self.seed)
                )
            tasks.extend(partial(self._fast, length, family) for family in families[length])
        return tasks

    def _checked(self, length: int, family: str, order: str) -> _Done:
        expected = self._expectations.of(length, family)
        run = self.run(schedule.checked_job(self.step, expected.case, order))
        written = expected.written(run.outputs, self.step) if run.ended == "finished" else ()
        return _Done(expected, order, run, written=written)

    def _fast(self, length: int, family: str) -> _Done:
        expected = self._expectations.of(length, family)
        run = self.run(schedule.fast_job(self.step, expected.case))
        compared = expected.compare(run.outputs, self.step) if run.ended == "finished" else None
        return _Done(expected, "", run, compared=compared)

    def _compare_orders(self, checked: list[_Done]) -> None:
        finished = [done for done in checked if done.written]
        case = checked[0].expected.case
        kernels = self.program.kernels
        for compared in zip(*(done.written for done in finished), strict=True):
            finding = order_dependence(
                f"{self.step.length_name} = {case.length} ({case.family})",
                [(done.order, tensor) for done, tensor in zip(finished, compared, strict=True)],
                file=self.program.file,
                kernel=kernels[0].name if len(kernels) == 1 else "",
                line=kernels[0].line if len(kernels) == 1 else None,
                may_round_differently="atomic" in self.program.source,
            )
            if finding:
                self.unsteady.append(finding)
                return

    # --- the profile length ---------------------------------------------------------------------------------

    def _run_profile(self, length: int) -> None:
        family = self._subject.families(length)[0]
        cores = schedule.cores()
        self.say(f"{self._at(length)}: values")
        case = self._subject.make(length, family, self.seed)
        values = partial(self.run, schedule.fast_job(self.step, case, cores))
        counts = partial(self.run, schedule.traffic_job(self.step, case, cores))
        with schedule.running([values, counts], workers=1) as runs:
            expected = self._expectations.of(length, family)
            run = next(runs)
            self.keep(run, length)
            self._step(f"{self._at(length)}: bytes moved")
            self._judge_values(expected.compare(run.outputs, self.step), expected)
            run = next(runs)
            self.keep(run, length)
        if run.traffic is None:
            raise Stopped(
                "broken", self._where(f"the counts of its traffic are missing ({self._at(length)})")
            )
        self.traffic = traffic.judge_traffic(self.step, length, run.traffic)
        self._step(f"{self._at(length)}: bytes moved")

    # --- what every run goes through ------------------------------------------------------------------------

    def run(self, job: Job) -> Run:
        return self.target.run(self.built, job)

    def keep(self, run: Run, length: int) -> None:
        """Keeps a run's findings; raises Stopped if it did not finish or broke a rule of the step."""
        self.findings.extend(run.findings)
        self.launches = max(self.launches, len(run.plan.launches))
        if run.ended == "refused":
            too_much = sum(run.plan.scratch_bytes) > self.step.scratch_bytes_per_token * length
            says = workspace.describe(self.step, self._asked) if too_much else run.says
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
