"""Finding a row of scores among the values that a kernel left in shared memory.

Nothing is known of how a kernel lays its arrays out. What is known is what a row of scores must be, in
float64, in the forms that attention kernels keep it in; a row is found where an array holds the values of
consecutive keys at evenly spaced elements.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def forms(scores: Doubles, scale: Doubles, visible: int) -> list[Form]:
    """The forms of a row of scaled scores [T], the plainest first; `scale` [T] is sum |q k| / sqrt(DH)."""
    seen = scores[:visible]
    off = _SCORE_ROUNDING * scale

    def linear(name: str, factor: float) -> Form:
        return Form(name, factor * scores, factor * off, -np.inf, visible)

    def exponential(name: str, values: Doubles) -> Form:
        spread = off + float(off[:visible].max()) + _SCORE_ROUNDING
        return Form(name, values, values * spread + _NEAR_ZERO, 0.0, visible)

    with np.errstate(all="ignore"):
        shifted = np.exp(scores - seen.max())
        found = [
            linear("score", 1.0),
            linear("score without the scale", np.sqrt(DH)),
            linear("score in base 2", np.log2(np.e)),
            exponential("exp(score - maximum)", shifted),
            exponential("probability", shifted / shifted[:visible].sum()),
            exponential("exp(score)", np.exp(scores)),
        ]
        # What a tile is exponentiated under is the maximum so far: every value that it takes.
        reached = np.unique(np.maximum.accumulate(seen))[-2::-1]
        found += [exponential("exp(score - maximum)", np.exp(scores - largest)) for largest in reached]
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
        places = [
            {int(element) for element in self._order[low[key] : high[key]]} if usable[key] else set()
            for key in range(form.visible)
        ]
        best: Piece | None = None
        key = 0
        while key < form.visible:
            start, stride, count = _run_from(places, key)
            if count and (best is None or count > best.count):
                best = Piece(form, self.moment, key, count, start, stride)
            key += max(count - 1, 1)
        return best if best and best.count >= min(_LEAST_KEYS, form.visible) else None


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
