"""One run of the bench: from who and how long to a ladder."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace

from tilestep import contract
from tilestep.bench import machine
from tilestep.bench.book import Book
from tilestep.bench.contenders import PEER, Contender
from tilestep.bench.floor import peaks
from tilestep.bench.ladder import Ladder
from tilestep.bench.messages import (
    LEAST_MS,
    ROUNDS,
    Facts,
    LeftOut,
    Loaded,
    Message,
    Order,
    Prepared,
    Starting,
    Timed,
    Timing,
)
from tilestep.bench.rows import Right
from tilestep.bench.timer import L2_TIMES
from tilestep.judge import Progress
from tilestep.program import Floats
from tilestep.subjects.online_attention import SUBJECT
from tilestep.targets.protocol import Card

LENGTHS = (33, 512, contract.PROFILE_LENGTH)

_FAMILY = "normal"  # the value family that is fed

METHOD = (
    f"CUDA graphs, each replay between two events, after {L2_TIMES} times the size of L2 was overwritten, "
    "and in the queue before that had ended; "
    f"a turn is replays for at least {LEAST_MS:g} ms; contenders take turns in random order, round by round; "
    "median of the rounds' medians; outputs were NaN before the replay that is compared with float64"
)

Measure = Callable[[Order], Generator[Message, None, None]]


@dataclass(frozen=True)
class Plan:
    """What a run measures: contenders in the ladder's order, lengths in the order in which they are taken."""

    contenders: tuple[Contender, ...]
    lengths: tuple[int, ...] = LENGTHS
    rounds: int = ROUNDS
    seed: int = 0


def feed(lengths: Iterable[int], seed: int) -> dict[int, Floats]:
    """The packed tensor [T, QKV_OUT] of each length."""
    return {length: SUBJECT.make(length, _FAMILY, seed).inputs["qkv_rotated"] for length in lengths}


def run(
    plan: Plan,
    card: Card,
    packed: Mapping[int, Floats],
    loaded: Sequence[Loaded],
    broken: Sequence[LeftOut],
    measure: Measure,
    keep: Callable[[Ladder], object],
    on_progress: Callable[[Progress], None] | None = None,
) -> Ladder:
    """The ladder, measured. `loaded` are the rungs that could be built, `broken` tells of the others.

    `keep` is handed the ladder as it stands after each length; who wants all of it waits for the answer.
    """
    peers = tuple(one for one in plan.contenders if one.kind == PEER)
    order = Order(tuple(loaded), peers, packed, plan.seed, plan.rounds)
    ladder = _empty(plan, card)
    # The right answers are computed while the measuring process starts.
    with ThreadPoolExecutor(max_workers=1) as pool, closing(measure(order)) as messages:
        right = {length: pool.submit(Right.of, values) for length, values in packed.items()}
        book = Book(plan.contenders, ladder.peaks, lambda length: right[length].result(), card.highest_clock)
        for told in broken:
            book.hear(told)
        steps = _Steps(len(plan.lengths) * len(plan.contenders), on_progress)
        for message in messages:
            steps.hear(message)
            book.hear(message)
            if isinstance(message, Facts):
                ladder = replace(ladder, versions={**ladder.versions, **message.versions})
            elif isinstance(message, Timed):
                keep(replace(ladder, rows=book.rows(), absent=book.absent()))
        book.close(plan.lengths)
    return replace(ladder, rows=book.rows(), absent=book.absent())


class _Steps:
    """How far a run is: every contender at every length is a step."""

    def __init__(self, total: int, tell: Callable[[Progress], None] | None) -> None:
        self._total = total
        self._tell = tell
        self._done: set[tuple[str, int]] = set()

    def hear(self, message: Message) -> None:
        doing = ""
        if isinstance(message, Starting):
            doing = f"{message.name}, T = {message.length}"
        elif isinstance(message, Timing):
            doing = f"times at T = {message.length}"
        elif isinstance(message, Prepared | LeftOut):
            self._done.add((message.name, message.length))
        if doing and self._tell is not None:
            self._tell(Progress(len(self._done), self._total, doing))


def _empty(plan: Plan, card: Card) -> Ladder:
    return Ladder(
        date=datetime.date.today().isoformat(),
        gpu=card.name,
        driver=card.driver,
        seed=plan.seed,
        peaks=peaks(card),
        versions=machine.versions(),
        commit=machine.commit(),
        compiler=card.compiler,
        method=METHOD,
    )
