"""Rounds: every contender has a turn in each, in random order, so that drift and heat meet all alike."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tilestep.bench.messages import LEAST_MS, MOST_REPLAYS
from tilestep.targets.gpu.race import WARM_UP_CALLS


@dataclass(frozen=True)
class Reading:
    """The median milliseconds of a turn's replays, and how many of them the host queued too late."""

    ms: float
    late: int = 0


@dataclass(frozen=True)
class Rounds:
    """By contender: samples in milliseconds, one a round; replays a turn; and late ones in all rounds.

    By round: the clock in MHz right after it, and why it was lowered, "" if it was not.
    """

    samples: Mapping[str, tuple[float, ...]]
    replays: Mapping[str, int]
    late: Mapping[str, int]
    clocks: tuple[int, ...]
    lowered: tuple[str, ...]


Turn = Callable[[int], Reading]  # replays a graph so many times
Clock = Callable[[], tuple[int, str]]


def replays(one_ms: float) -> int:
    """How often a graph is replayed in a turn, so that a turn holds at least LEAST_MS of its time."""
    if not one_ms > 0.0:
        return MOST_REPLAYS
    return min(MOST_REPLAYS, max(1, math.ceil(LEAST_MS / one_ms)))


def run_rounds(turns: Mapping[str, Turn], rounds: int, seed: int, clock: Clock) -> Rounds:
    """Warms everybody up, and gives each so many turns."""
    often = {}
    for name, turn in turns.items():
        turn(1)  # warms up
        first = turn(1).ms
        often[name] = replays(first if first >= LEAST_MS else turn(WARM_UP_CALLS).ms)
    readings: dict[str, list[Reading]] = {name: [] for name in turns}
    clocks = []
    rng = random.Random(seed)  # noqa: S311  (an order, no secret)
    for _ in range(rounds):
        order = list(turns)
        rng.shuffle(order)
        for name in order:
            readings[name].append(turns[name](often[name]))
        clocks.append(clock())
    return Rounds(
        samples={name: tuple(one.ms for one in taken) for name, taken in readings.items()},
        replays=often,
        late={name: sum(one.late for one in taken) for name, taken in readings.items()},
        clocks=tuple(mhz for mhz, _ in clocks),
        lowered=tuple(why for _, why in clocks),
    )
