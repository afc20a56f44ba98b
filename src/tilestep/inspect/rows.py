"""Finding a row of scores among the values that a kernel left in shared memory.

Nothing is known of how a kernel lays its arrays out. What is known is what a row of scores must be, in
float64, in the forms that attention kernels keep it in; a row is found where an array holds the values of
consecutive keys at evenly spaced elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tilestep.contract import DH
from tilestep.inspect.memory import Moment

Doubles = NDArray[np.float64]

_CLOSE = 2e-3  # relative: a row in half precision is found too
_NEAR_ZERO = 1e-30  # what has underflowed is like anything else that has
_SCORE_ROUNDING = 2.0**-16  # of sum |q k|: more than any order of 64 fp32 additions, less than TF32
_LEAST_KEYS = 4  # fewer may lie side by side by chance
_TILE, _MOST_MAXIMA = (
    8,
    64,
)  # tiles end at multiples of this; of a maximum that climbs on and on, the last are tried

ATTENTION_FACTORS = {" without the scale": float(np.sqrt(DH)), " in base 2": float(np.log2(np.e))}


@dataclass(frozen=True)
class Form:
    """A row of scores as kernels keep it: float64 values for all T keys, and what stands for a masked one.

    The first `visible` keys count; the values behind them are what a kernel without a mask would have.
    `bound` says how far fp32 may be off. Forms of one `name` make up one row: a tile each. For scores that
    another head has, `right` is the form that they should have.
    """

    name: str
    values: Doubles
    bound: Doubles
    masked: float
    visible: int
    right: Form | None = None


def forms(
    name: str, scores: Doubles, scale: Doubles, visible: int, factors: Mapping[str, float]
) -> list[Form]:
    """The forms of a row of scores [T], the plainest first.

    `name` is what one of them is called, `scale` [T] what its rounding is measured by (of a scaled score:
    sum |q k| / sqrt(DH)); `factors` are other linear forms, by what is added to the name.
    """
    seen = scores[:visible]
    off = _SCORE_ROUNDING * scale
    worst = float(off[:visible][np.isfinite(off[:visible])].max(initial=0.0))

    def linear(added: str, factor: float) -> Form:
        return Form(name + added, factor * scores, factor * off, -np.inf, visible)

    def exponential(called: str, values: Doubles) -> Form:
        bound = values * (off + worst + _SCORE_ROUNDING) + _NEAR_ZERO
        return Form(called, values, bound, 0.0, visible)

    with np.errstate(all="ignore"):
        shifted = np.exp(scores - seen.max())
        found = [linear(added, factor) for added, factor in {"": 1.0, **factors}.items()]
        found += [
            exponential(f"exp({name} - maximum)", shifted),
            exponential("probability", shifted / shifted[:visible].sum()),
            exponential(f"exp({name})", np.exp(scores)),
        ]
        # A tile is exponentiated under the maximum so far: every value that it has where a tile may end.
        so_far = np.maximum.accumulate(seen)
        reached = np.unique([*so_far[_TILE - 1 :: _TILE], so_far[-1]])[-2::-1][:_MOST_MAXIMA]
        found += [exponential(f"exp({name} - maximum)", np.exp(scores - largest)) for largest in reached]
    return found


def of_another(name: str, scores: Doubles, right: Form) -> Form:
    """Scores [T] that are not the row's own, but what a kernel gets that mixes heads up."""
    return replace(right, name=name, values=scores, right=right)


@dataclass(frozen=True)
class Piece:
    """Keys [first, first + count) of a row at elements start, start + stride, ... of one moment."""

    form: Form
    moment: Moment
    first: int
    count: int
    start: int
    stride: int

    def element(self, key: int) -> int:
        """Where a key's value lies, or would; it may be outside the array."""
        return self.start + self.stride * (key - self.first)

    def distance(self, key: int) -> int:
        """How far a key is from those of the piece; 0 inside."""
        return max(self.first - key, key - (self.first + self.count - 1), 0)


class Values:
    """A moment's values, sorted so that what is close to a number is found at once."""

    def __init__(self, moment: Moment) -> None:
        self.moment = moment
        values = np.where(moment.written, moment.values, np.nan).astype(np.float64)
        self._order = np.argsort(values, kind="stable")  # NaN last
        self._ranked = values[self._order]

    def longest_piece(self, form: Form) -> Piece | None:
        """The longest run of visible keys that lies evenly spaced here; None where chance may explain it."""
        wanted = form.values[: form.visible]
        margin = _CLOSE * np.abs(wanted)
        low = np.searchsorted(self._ranked, wanted - margin, side="left")
        high = np.searchsorted(self._ranked, wanted + margin, side="right")
        usable = np.isfinite(wanted) & (np.abs(wanted) > _NEAR_ZERO)
        usable &= high > low
        least = min(_LEAST_KEYS, form.visible)
        best: Piece | None = None
        for first, last in _stretches(usable, least):
            places = [set(self._order[low[key] : high[key]].tolist()) for key in range(first, last)]
            key = 0
            while key < len(places) and (best is None or len(places) - key > best.count):
                start, stride, count = _run_from(places, key)
                if count >= least and (best is None or count > best.count):
                    best = Piece(form, self.moment, first + key, count, start, stride)
                # A few neighbours may fit by chance, and must not hide a run that begins among them.
                key += count - 1 if count > _LEAST_KEYS else 1
        return best


def _stretches(usable: NDArray[np.bool_], least: int) -> Iterator[tuple[int, int]]:
    """[first, last) of every run of True that is long enough."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], usable, [False])).astype(np.int8)))
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if last - first >= least:
            yield first, last


def _run_from(places: Sequence[set[int]], key: int) -> tuple[int, int, int]:
    """(start, stride, count) of the longest even run that begins with a key; count 0 if it is nowhere."""
    best = (0, 1, 0)
    following = places[key + 1] if key + 1 < len(places) else set()
    for start in sorted(places[key]):
        if best[2] == 0:
            best = (start, 1, 1)
        for stride in sorted({element - start for element in following} - {0}, key=lambda s: (abs(s), -s)):
            count = 2
            while key + count < len(places) and start + stride * count in places[key + count]:
                count += 1
            if count > best[2]:
                best = (start, stride, count)
    return best
