"""One submission's runs: everything they showed is gathered here, in order; nothing is decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from tilestep.judge import in_block, schedule, traffic
from tilestep.judge.compare import Compared, ComparedCase
from tilestep.judge.diagnose import order_dependence
from tilestep.judge.expect import Expected
from tilestep.judge.gathered import Gathered, Stopped
from tilestep.judge.race import RaceBroken, Racer, RaceUnsafe
from tilestep.judge.some_rows import compare_rows, hazard_rows
from tilestep.judge.trusted import TrustedKernels
from tilestep.program import Run
from tilestep.subjects import Case, Subject
from tilestep.subjects.protocol import TimedSubject
from tilestep.targets.protocol import TimingTarget


@dataclass(frozen=True)
class _Done:
    """A run at a small length. `order` is "" for the fast build."""

    expected: Expected
    order: str
    run: Run
    compared: ComparedCase | None = None
    written: tuple[Compared, ...] = ()


class Trial(Gathered):
    """Runs a built program over its cases; what came out is kept."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._same_case: list[_Done] = []  # the thread orders of one case

    def run_all(self) -> None:
        """Every small length, each with the checkers in several thread orders and then at every family; then
        the profile length, if all of that was right. On a target without checkers the values alone, attention
        inside the whole block, and a race where the step has a speed gate.

        Raises Stopped at the first run that does not finish.
        """
        tasks, within = self._small_tasks(), self._lengths_in_block()
        self._total = len(tasks) + len(within) + self._profile_steps()
        self.say("the first case")
        with self._knowing_ahead():
            with schedule.running(tasks, workers=schedule.workers(self.target)) as results:
                for done in results:
                    self._take(done)
                    if self.fail_fast and self.wrong:
                        return
            if self._racing and self._clean:
                self._racing.race_soon()
            if within and self._clean:
                self._run_in_block(within)
            if self.profile and self._clean:
                self._run_profile(self.profile)
        if self._racing and self._clean:
            self._race()

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
        with_checkers = {}
        if self.target.checks:
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
        if self.target.checks:  # what is right is computed while the emulator runs
            case = self._subject.make(length, family, self.seed)
        else:
            case = self._expectations.of(length, family).case
        runs = [partial(self.run, schedule.fast_job(self.step, case, cores))]
        if self.target.checks:
            runs.append(partial(self.run, schedule.traffic_job(self.step, case, cores)))
        with schedule.running(runs, workers=1) as results:
            expected = self._expectations.of(length, family)
            run = next(results)
            self.keep(run, length)
            self._judge_values(expected.compare(run.outputs, self.step), expected)
            self._step(f"{self._at(length)}: values")
            if self.target.checks:
                self._count_bytes(next(results), length)
        if self._clean:
            self._run_hazards()

    def _run_hazards(self) -> None:
        """The other families at the profile length, and a length that nobody knows: some rows of each."""
        asked = self._subject
        if not isinstance(asked, TimedSubject):
            return
        tasks = [partial(self._hazard, asked, length, family) for length, family in self._hazards()]
        with schedule.running(tasks, workers=schedule.workers(self.target)) as results:
            for (length, family), (case, run) in zip(self._hazards(), results, strict=True):
                self.keep(run, length)
                if run.ended == "finished":
                    output = run.outputs[self.step.seam.outputs[0].name]
                    rows = hazard_rows(case, output)
                    self.compared.append(compare_rows(asked, case, family, output, rows))
                self._step(f"{self._at(length)}, {family}")

    def _hazard(self, asked: Subject, length: int, family: str) -> tuple[Case, Run]:
        case = asked.make(length, family, self.seed)
        return case, self.run(schedule.fast_job(self.step, case))

    def _hazards(self) -> list[tuple[int, str]]:
        if self.profile is None or not isinstance(self._subject, TimedSubject):
            return []
        return schedule.long_cases(self._subject, self.profile, self.beyond, self.seed)

    def _count_bytes(self, run: Run, length: int) -> None:
        self.keep(run, length)
        if run.traffic is None:
            raise Stopped(
                "broken", self._where(f"the counts of its traffic are missing ({self._at(length)})")
            )
        self.traffic = traffic.judge_traffic(self.step, length, run.traffic)
        self._step(f"{self._at(length)}: bytes moved")

    def _profile_steps(self) -> int:
        """Pieces of work at the profile length, for the display."""
        if self.profile is None:
            return 0
        if self.target.checks:
            return 2 + len(self._hazards())
        return 1 + len(self._hazards()) + (self.pairs if self._racing else 0)

    # --- a target without checkers: no emulator, and perhaps a clock ----------------------------------------

    @property
    def _racing(self) -> TimingTarget | None:
        """The target, where it has a clock and the step a gate for it."""
        if self.target.checks or self.profile is None or self.step.speed_gate is None:
            return None
        return self.target if isinstance(self.target, TimingTarget) else None

    @contextmanager
    def _knowing_ahead(self) -> Iterator[None]:
        """The profile length's right answers, which take seconds, are computed beside the small runs: on a
        GPU these leave the cores idle."""
        if self.target.checks or self.profile is None:
            yield
            return
        with ThreadPoolExecutor(max_workers=1) as pool:
            pool.submit(self._expectations.of, self.profile, self._subject.families(self.profile)[0])
            yield

    def _lengths_in_block(self) -> list[int]:
        if self.target.checks or self.step.output != "attention_output":
            return []
        return [length for length in in_block.LENGTHS if length in self.lengths]

    def _run_in_block(self, lengths: list[int]) -> None:
        """Attention behind our own norm, projection and rotation, and before our own rest of the block."""
        self.say("compiling the block around it")
        ours = TrustedKernels(self.target)
        ours.build_all()
        tasks = [
            partial(in_block.run_in_block, self.step, self.run, ours, length, self.seed) for length in lengths
        ]
        with schedule.running(tasks, workers=schedule.workers(self.target)) as results:
            for length, found in zip(lengths, results, strict=True):
                self.keep(found.run, length)
                if found.compared:
                    self._judge_values(found.compared, found.expected)
                self._step(f"{self._at(length)}, in the block")

    def _race(self) -> None:
        length, target = self.profile, self._racing
        if length is None or target is None:
            raise TypeError("a race needs the profile length and a target with a clock")
        if not isinstance(self._subject, TimedSubject):
            raise TypeError(f"{self.step.name} has a speed gate, and its subject no fresh cases for a race")
        racer = Racer(
            target, self.step, self._subject, self.built, length, self.seed, self.entropy, self.pairs
        )
        before = self._done
        self.say("the race begins")

        def tell(timed: int, of: int) -> None:
            self._done, self._total = before + timed, before + of
            self.say(f"pair {timed} of {of}")

        try:
            raced = racer.run(tell)
        except RaceBroken as broken:
            raise Stopped("broken", self._where(str(broken))) from None
        except RaceUnsafe as unsafe:
            self.findings.extend(replace(finding, file=self.program.file) for finding in unsafe.findings)
            return
        self.race = raced.record
        if raced.wrong:
            self.compared.append(raced.wrong)
