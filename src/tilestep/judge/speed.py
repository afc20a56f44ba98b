"""What a race showed: its pairs as numbers, the speed that they give, or why they give none."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tilestep.judge.statistics import median_interval
from tilestep.targets.protocol import Card, Pair

SPEED_LINES = ("ATTN BASELINE MS", "ATTN USER MS", "SPEEDUP")  # the labels that the course prints
FEWEST = 30  # pairs that a speed is made of
MOST_DROPPED = 0.5  # of all pairs; a card that is slowed down more often is not fit to measure on
HIDDEN_PART, HIDDEN_MS = 0.2, 0.25  # what the host's clock may see beyond the events: whichever is more
FULL_CLOCK = 0.95  # of the card's highest: from here on a reason for a lowered clock has lowered nothing
ORDER_PART = 0.1  # by which the ratio of the pairs that one side begins may differ from that of the others
FEWEST_WALLS = 3  # calls with a time on the host's clock, for their median to mean something


@dataclass(frozen=True)
class Speed:
    """Times of interleaved pairs against the baseline, in milliseconds; low and high bound the speedup."""

    baseline_ms: float
    user_ms: float
    speedup: float
    low: float
    high: float
    gate: float | None
    pairs: int


@dataclass(frozen=True)
class TimedPair:
    """One pair without its tensors. Times in milliseconds, the clock in MHz, 0 where it is not known.

    `strict` says that every value was compared with float64; of the other pairs a part was. `kept` says that
    the pair counts: its clock was not lowered, and neither call was `late`, with a gap of the host's in it.
    """

    number: int
    user_first: bool
    strict: bool
    user_ms: float
    baseline_ms: float
    user_wall_ms: float
    baseline_wall_ms: float
    clock: int
    throttled: tuple[str, ...] = ()
    late: bool = False
    kept: bool = True

    @property
    def ratio(self) -> float:
        """How many times faster the submission was."""
        return self.baseline_ms / self.user_ms


@dataclass(frozen=True)
class RaceRecord:
    """A whole race. `speed` is None where `alarm` says why no speed can be stated.

    `baseline` is the name of our kernel; `floor_ms` is the time that the card's memory needs for the bytes
    that must move, 0 where its bandwidth is not known; `entropy`, in hexadecimal, drew what was fed.
    """

    card: Card
    baseline: str
    baseline_sha256: str
    length: int
    floor_ms: float
    pairs: tuple[TimedPair, ...]
    speed: Speed | None = None
    alarm: str = ""
    entropy: str = ""

    @property
    def late(self) -> int:
        return sum(pair.late for pair in self.pairs)

    @property
    def throttled(self) -> int:
        """Pairs that were dropped for the card's clock."""
        return sum(not pair.kept for pair in self.pairs) - self.late


def timed_pair(number: int, pair: Pair, highest_clock: int, *, strict: bool) -> TimedPair:
    """A pair's numbers; `highest_clock` is the card's, in MHz, 0 where it is not known."""
    at_full_speed = 0 < FULL_CLOCK * highest_clock <= pair.clock
    late = pair.user.late or pair.baseline.late
    return TimedPair(
        number=number,
        user_first=pair.user_first,
        strict=strict,
        user_ms=pair.user.ms,
        baseline_ms=pair.baseline.ms,
        user_wall_ms=pair.user.wall_ms,
        baseline_wall_ms=pair.baseline.wall_ms,
        clock=pair.clock,
        throttled=pair.throttled,
        late=late,
        kept=not late and (at_full_speed or not pair.throttled),
    )


def measure(pairs: Sequence[TimedPair], gate: float | None, floor_ms: float, seed: int) -> Speed | str:
    """The speed of all pairs of a race, or a sentence that says why they give none."""
    trouble = _unreadable(pairs) or _below(pairs, floor_ms) or _slowed_down(pairs) or _hidden(pairs)
    kept = [pair for pair in pairs if pair.kept]
    trouble = trouble or _order_matters(kept)
    if trouble:
        return trouble
    ratios = median_interval([pair.ratio for pair in kept], seed)
    return Speed(
        baseline_ms=float(np.median([pair.baseline_ms for pair in kept])),
        user_ms=float(np.median([pair.user_ms for pair in kept])),
        speedup=ratios.median,
        low=ratios.low,
        high=ratios.high,
        gate=gate,
        pairs=len(kept),
    )


def _unreadable(pairs: Sequence[TimedPair]) -> str:
    bad = [p for p in pairs if not all(math.isfinite(ms) and ms > 0 for ms in (p.user_ms, p.baseline_ms))]
    return f"the events of pair {bad[0].number} give no time" if bad else ""


def _below(pairs: Sequence[TimedPair], floor_ms: float) -> str:
    fastest = min(pair.user_ms for pair in pairs)
    if fastest >= floor_ms:
        return ""
    return (
        f"a call took {fastest * 1e3:.2f} us by its events, and the bytes that must move need "
        f"{floor_ms * 1e3:.2f} us: no kernel is faster than the card's memory, so no speed is stated"
    )


def _slowed_down(pairs: Sequence[TimedPair]) -> str:
    dropped = [pair for pair in pairs if not pair.kept]
    kept = len(pairs) - len(dropped)
    if kept >= FEWEST and len(dropped) <= MOST_DROPPED * len(pairs):
        return ""
    if not dropped:
        return f"{kept} pairs were timed, and a speed needs {FEWEST}"
    late = sum(pair.late for pair in dropped)
    if 2 * late > len(dropped):
        return (
            f"in {late} of {len(pairs)} pairs the host was not done with queueing when the first kernel began"
        )
    reasons = ", ".join(sorted({reason for pair in dropped for reason in pair.throttled}))
    return f"the card lowered its clock in {len(dropped)} of {len(pairs)} pairs ({reasons})"


def _hidden(pairs: Sequence[TimedPair]) -> str:
    """Work that the host's clock sees and the events do not."""
    if _excess(pairs, lambda p: (p.baseline_wall_ms, p.baseline_ms)):
        return "something else keeps the card busy: the host's clock and the events disagree for the baseline"
    more = _excess(pairs, lambda p: (p.user_wall_ms, p.user_ms))
    if more:
        return f"the host's clock sees {more:.3g} ms more than the events: work hides from them"
    return ""


def _order_matters(kept: Sequence[TimedPair]) -> str:
    """Each call begins from the same state: what one leaves behind must not slow the other down."""
    first = [pair.ratio for pair in kept if pair.user_first]
    second = [pair.ratio for pair in kept if not pair.user_first]
    if not first or not second:
        return ""
    ratios = float(np.median(first)), float(np.median(second))
    if max(ratios) <= (1.0 + ORDER_PART) * min(ratios):
        return ""
    return (
        f"the speedup depends on who begins: {ratios[0]:.2f}x where the submission does, "
        f"{ratios[1]:.2f}x where the baseline does"
    )


def _excess(pairs: Sequence[TimedPair], times: Callable[[TimedPair], tuple[float, float]]) -> float:
    """The median of what the host's clock saw beyond the events, in milliseconds; 0 where that is allowed."""
    both = [times(pair) for pair in pairs]
    both = [(wall, ms) for wall, ms in both if math.isfinite(wall)]
    if len(both) < FEWEST_WALLS:
        return 0.0
    excess = float(np.median([wall - ms for wall, ms in both]))
    allowed = max(HIDDEN_PART * float(np.median([ms for _, ms in both])), HIDDEN_MS)
    return excess if excess > allowed else 0.0


def describe_race(race: RaceRecord) -> tuple[str, ...]:
    """The evidence of a race, a line each: a label, a colon, the fact."""
    speed, card = race.speed, race.card
    lines: list[str] = []
    if speed is not None:
        facts = (
            f"{speed.baseline_ms:.4f}",
            f"{speed.user_ms:.4f}",
            f"{speed.speedup:.2f}x ({describe_interval(speed)})",
        )
        lines += [f"{label}: {fact}" for label, fact in zip(SPEED_LINES, facts, strict=True)]
    elif race.alarm:
        lines.append(f"speed: not stated, {race.alarm}")
    lines.append(f"pairs: {len(race.pairs)} in random order, {_dropped(race)}")
    lines.append(f"timed calls: {_compared(race)}")
    lines.append(f"baseline: {race.baseline}, sha256 {race.baseline_sha256[:16]}")
    lines.append(f"gpu: {card.name}, {card.multiprocessors} multiprocessors, compute {_capability(card)}")
    lines.append(f"driver: {card.driver}")
    lines.append(f"clocks: {_clocks(race)}")
    lines.append(f"compiler: {' '.join((card.compiler, *card.flags))}")
    others = f"{card.others or 'no'} other process{'es' if card.others > 1 else ''}"
    lines.append(f"others: {others} on the card")
    return tuple(lines)


def describe_interval(speed: Speed) -> str:
    """95 % interval 5.49x to 5.55x, gate 1.8x."""
    gate = "" if speed.gate is None else f", gate {speed.gate:g}x"
    return f"95 % interval {speed.low:.2f}x to {speed.high:.2f}x{gate}"


def _dropped(race: RaceRecord) -> str:
    throttled = f"{race.throttled} throttled and dropped" if race.throttled else "0 throttled"
    return f"{throttled}, {race.late} late and dropped" if race.late else throttled


def _compared(race: RaceRecord) -> str:
    strict = sum(pair.strict for pair in race.pairs)
    return f"every output compared, {strict} wholly with float64, the others in part"


def _capability(card: Card) -> str:
    return ".".join(map(str, card.capability))


def _clocks(race: RaceRecord) -> str:
    seen = sorted(pair.clock for pair in race.pairs if pair.clock)
    if not seen:
        return "not readable here"
    span = f"{seen[0]} MHz" if seen[0] == seen[-1] else f"{seen[0]} to {seen[-1]} MHz"
    return f"{span}, highest {card_clock} MHz" if (card_clock := race.card.highest_clock) else span
