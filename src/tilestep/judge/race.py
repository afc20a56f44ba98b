"""Times a submission against the baseline: interleaved pairs, fresh values in each, every output compared."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from tilestep import kernels
from tilestep.contract import Step
from tilestep.frontends import cuda
from tilestep.judge import schedule, speed, traffic
from tilestep.judge.compare import ComparedCase
from tilestep.judge.speed import RaceRecord, TimedPair
from tilestep.judge.timed import TIMED, Outputs, compare_pair
from tilestep.program import Finding, Job, Program
from tilestep.subjects import Case
from tilestep.subjects.protocol import TimedSubject
from tilestep.targets.protocol import Built, Pair, TimingTarget

PAIRS = 40  # that are timed; see speed.FEWEST
MOST_PAIRS = 200
MORE_PAIRS = 20  # at most, for those that the card's clock or the host spoilt
_WARM_UP = MOST_PAIRS + MORE_PAIRS  # the number of the case that both are warmed up on: no pair's
STRICT_PAIRS = 3  # whose every value is compared with float64
_AHEAD = 3  # cases that are drawn before their turn
_FAILED = ("crashed", "timed-out", "refused")  # how a call of the one at fault ends
_CHECKERS = 6  # threads that compare
_BEHIND = 8  # pairs whose outputs wait to be compared: some 8 MB each

_Checked = Future[ComparedCase | None]


class RaceBroken(Exception):  # noqa: N818
    """The submission did not finish a timed call: the text says why."""


class RaceUnsafe(Exception):  # noqa: N818
    """The submission wrote beside its buffers in a timed call."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__(findings[0].says)
        self.findings = findings


@dataclass(frozen=True)
class Raced:
    """A race that came to its end: numbers, and the case where a timed output was wrong."""

    record: RaceRecord
    wrong: ComparedCase | None


@dataclass(frozen=True)
class Turn:
    """What one pair is fed. `strict`: every value of its outputs is compared with float64."""

    number: int
    user_first: bool
    strict: bool
    case: Case


@dataclass(frozen=True)
class Racer:
    """One race of a built submission at a length.

    `entropy` draws what is fed, its order, and which pairs are strict: 128 bits, more than a kernel can try.
    """

    target: TimingTarget
    step: Step
    subject: TimedSubject
    built: Built
    length: int
    seed: int
    entropy: int
    pairs: int = PAIRS

    def run(self, tell: Callable[[int, int], None]) -> Raced:
        """Times the pairs; `tell` hears how many are done, of how many.

        Raises RaceBroken where the submission does not finish a call, RaceUnsafe where it writes beside its
        buffers, and RuntimeError where our baseline does not finish, or is wrong.
        """
        program = cuda.load(kernels.path(traffic.BASELINE), self.step)
        baseline = self.target.build(program)
        job = schedule.fast_job(self.step, self._fresh(_WARM_UP))
        highest = self.target.card.highest_clock
        timed: list[TimedPair] = []
        with self.target.race(self.built, baseline, job) as course, _Checks(self) as checks:
            for turn in self._turns(timed):
                pair = course.pair(schedule.job(self.step, turn.case).buffers, turn.user_first)
                _must_finish(turn, pair)
                if pair.user.findings:
                    raise RaceUnsafe(pair.user.findings)
                timed.append(speed.timed_pair(turn.number, pair, highest, strict=turn.strict))
                if checks.add(turn, pair):
                    break
                tell(len(timed), max(self.pairs, len(timed)))
            wrong = checks.finish()
        return Raced(self._record(program, job, timed, right=wrong is None), wrong)

    def _turns(self, timed: list[TimedPair]) -> Iterator[Turn]:
        """The pairs in turn, drawn ahead in a thread; `timed` is what came out of those before.

        As many pairs begin with the submission as with the baseline, and nothing tells the strict ones apart.
        """
        rng = np.random.default_rng([self.entropy, self.length])
        orders = [
            bool(first) for n in (self.pairs, MORE_PAIRS) for first in rng.permutation(np.arange(n) % 2)
        ]
        strict = set(rng.choice(self.pairs, STRICT_PAIRS, replace=False).tolist())
        with ThreadPoolExecutor(max_workers=1) as pool:
            waiting: deque[Future[Turn]] = deque()
            number = 0
            while len(timed) < self.pairs or self._lacks(timed):
                while len(waiting) < _AHEAD:
                    first = orders[number % len(orders)]
                    waiting.append(pool.submit(self._turn, number, first, strict=number in strict))
                    number += 1
                yield waiting.popleft().result()

    def _lacks(self, timed: list[TimedPair]) -> bool:
        """Whether too many pairs were dropped and more may be timed."""
        kept = sum(pair.kept for pair in timed)
        return kept < speed.FEWEST and len(timed) < self.pairs + MORE_PAIRS

    def _turn(self, number: int, user_first: bool, *, strict: bool) -> Turn:
        return Turn(number, user_first, strict, self._fresh(number))

    def _fresh(self, number: int) -> Case:
        return self.subject.make_fresh(self.length, self.entropy, number)

    def _record(self, program: Program, job: Job, timed: list[TimedPair], *, right: bool) -> RaceRecord:
        card = self.target.card
        record = RaceRecord(
            card=card,
            baseline=traffic.BASELINE,
            baseline_sha256=program.sha256,
            length=self.length,
            floor_ms=_moved(job) / card.bandwidth * 1e3 if card.bandwidth else 0.0,
            pairs=tuple(timed),
            entropy=f"{self.entropy:032x}",
        )
        if not right:
            return record
        found = speed.measure(timed, self.step.speed_gate, record.floor_ms, self.seed)
        return replace(record, alarm=found) if isinstance(found, str) else replace(record, speed=found)


class _Checks:
    """Compares outputs in threads while the card goes on, a few pairs behind it."""

    def __init__(self, racer: Racer) -> None:
        self._racer = racer
        self._tensor = racer.step.seam.outputs[0].name
        self._pool = ThreadPoolExecutor(max_workers=max(1, min(_CHECKERS, schedule.cores() - 1)))
        self._waiting: deque[_Checked] = deque()
        self._strict: list[_Checked] = []  # a second each, in which the card need not stand still
        self._wrong: ComparedCase | None = None

    def __enter__(self) -> _Checks:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def add(self, turn: Turn, pair: Pair) -> bool:
        """Takes a pair's outputs; whether one that came before was wrong."""
        outputs = Outputs(pair.user.outputs[self._tensor], pair.baseline.outputs[self._tensor])
        kept = self._strict if turn.strict else self._waiting
        kept.append(self._pool.submit(self._check, turn, outputs))
        while self._waiting and (self._waiting[0].done() or len(self._waiting) > _BEHIND):
            self._take()
        for strict in self._strict:
            if strict.done():
                self._wrong = self._wrong or strict.result()
        return self._wrong is not None

    def finish(self) -> ComparedCase | None:
        """The first pair's case that was wrong, once all are compared."""
        while self._waiting:
            self._take()
        for strict in self._strict:
            self._wrong = self._wrong or strict.result()
        return self._wrong

    def _take(self) -> None:
        found = self._waiting.popleft().result()
        self._wrong = self._wrong or found

    def _check(self, turn: Turn, outputs: Outputs) -> ComparedCase | None:
        return compare_pair(turn.number, self._racer.subject, turn.case, outputs, whole=turn.strict)


def _must_finish(turn: Turn, pair: Pair) -> None:
    """After a call that did not finish the other one is not made: whose was the first to fail is at fault."""
    at = f"{TIMED} {turn.number}, T = {turn.case.length}"
    if pair.user.ended in _FAILED:
        raise RaceBroken(f"{pair.user.says} ({at})")
    if pair.baseline.ended != "finished":
        raise RuntimeError(f"the baseline did not finish: {pair.baseline.says} ({at})")


def _moved(job: Job) -> int:
    """Bytes that any kernel must move: each input read once, each output written once."""
    passes = {"in": 1, "out": 1, "inout": 2}
    return sum(4 * buffer.rows * buffer.width * passes[buffer.role] for buffer in job.buffers)
