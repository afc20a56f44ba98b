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
from tilestep.bench.messages import LEAST_MS, ROUNDS, Facts, LeftOut, Loaded, Message, Order, Timed
from tilestep.bench.rows import Right
from tilestep.program import Floats
from tilestep.subjects.online_attention import SUBJECT
from tilestep.targets.protocol import Card

LENGTHS = (33, 512, contract.PROFILE_LENGTH)

_FAMILY = "normal"  # the value family that is fed

METHOD = (
    "CUDA graphs, each replay between two events, after twice the size of L2 was overwritten; "
    f"a turn is replays for at least {LEAST_MS:g} ms; contenders take turns in random order, round by round; "
    "median of the rounds' means; outputs were NaN before the replay that is compared with float64"
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
) -> Ladder:
    """The ladder, measured. `loaded` are the rungs that could be built, `broken` tells of the others.

    `keep` is handed the ladder as it stands after each length, and at the end.
    """
    peers = tuple(one for one in plan.contenders if one.kind == PEER)
    order = Order(tuple(loaded), peers, packed, plan.seed, plan.rounds)
    ladder = _empty(plan, card)
    # The right answers are computed while the measuring process starts.
    with ThreadPoolExecutor(max_workers=1) as pool, closing(measure(order)) as messages:
        right = {length: pool.submit(Right.of, values) for length, values in packed.items()}
        book = Book(plan.contenders, ladder.peaks, lambda length: right[length].result())
        for told in broken:
            book.hear(told)
        for message in messages:
            book.hear(message)
            if isinstance(message, Facts):
                ladder = replace(ladder, versions={**ladder.versions, **message.versions})
            elif isinstance(message, Timed):
                ladder = replace(ladder, overhead_ms=message.overhead_ms)
                keep(replace(ladder, rows=book.rows(), absent=book.absent()))
        book.close(plan.lengths)
    ladder = replace(ladder, rows=book.rows(), absent=book.absent())
    keep(ladder)
    return ladder


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
