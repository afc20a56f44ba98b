"""Rounds: every contender has a turn in each, in random order, so that drift and heat meet all alike."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping

from tilestep.bench.messages import LEAST_MS, MOST_REPLAYS

Turn = Callable[[int], float]  # replays a graph so many times; the median milliseconds of one

_WARM_UP = 3


def replays(one_ms: float) -> int:
    """How often a graph is replayed in a turn, so that a turn holds at least LEAST_MS of its time."""
    if not one_ms > 0.0:
        return MOST_REPLAYS
    return min(MOST_REPLAYS, max(1, math.ceil(LEAST_MS / one_ms)))


def run_rounds(
    turns: Mapping[str, Turn], rounds: int, seed: int
) -> tuple[dict[str, tuple[float, ...]], dict[str, int]]:
    """Samples in milliseconds, one a round, and replays a turn, for each contender by name."""
    often = {}
    for name, turn in turns.items():
        turn(1)  # warms up
        first = turn(1)
        often[name] = replays(first if first >= LEAST_MS else turn(_WARM_UP))
    samples: dict[str, list[float]] = {name: [] for name in turns}
    rng = random.Random(seed)  # noqa: S311  (an order, no secret)
    for _ in range(rounds):
        order = list(turns)
        rng.shuffle(order)
        for name in order:
            samples[name].append(turns[name](often[name]))
    return {name: tuple(times) for name, times in samples.items()}, often
