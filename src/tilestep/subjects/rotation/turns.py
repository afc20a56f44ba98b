"""Right and wrong rotations of a case in float64: each gives the whole packed tensor [T, QKV_OUT]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilestep import reference
from tilestep.case import Case
from tilestep.contract import DH, HKV, HQ, QKV_OUT

Doubles = NDArray[np.float64]
Index = NDArray[np.intp]

PAIRS = DH // 2
ALL_HEADS = np.arange(QKV_OUT // DH)
Q_HEADS = ALL_HEADS[:HQ]
K_HEADS = ALL_HEADS[HQ : HQ + HKV]
ROTATED = ALL_HEADS[: HQ + HKV]
V_HEADS = ALL_HEADS[HQ + HKV :]
LOW = np.arange(PAIRS)
HIGH = LOW + PAIRS


@dataclass(frozen=True)
class Turn:
    """A rotation: of which heads, of which dims with which partner, and by which columns of the tables."""

    heads: Index
    low: Index
    high: Index
    column: Index

    def __call__(self, qkv: Doubles, cos: Doubles, sin: Doubles) -> Doubles:
        """The tensor with these heads turned; the tables are [T, DH / 2]."""
        low, high = self.old(qkv)
        c, s = cos[:, None, self.column], sin[:, None, self.column]
        return self.put(qkv, low * c - high * s, high * c + low * s)

    def old(self, qkv: Doubles) -> tuple[Doubles, Doubles]:
        """Both halves of the pairs, each [T, heads, pairs]."""
        heads = qkv.reshape(len(qkv), -1, DH)[:, self.heads]
        return heads[:, :, self.low], heads[:, :, self.high]

    def put(self, qkv: Doubles, low: Doubles | None, high: Doubles | None) -> Doubles:
        """The tensor with these halves in place of its own; None leaves a half as it is."""
        out = qkv.copy()
        heads = out.reshape(len(qkv), -1, DH)
        if low is not None:
            heads[:, self.heads[:, None], self.low] = low
        if high is not None:
            heads[:, self.heads[:, None], self.high] = high
        return out


def turn(heads: Any = ROTATED, low: Any = LOW, high: Any = HIGH, column: Any = LOW) -> Turn:
    """The right rotation, but for what is given."""
    return Turn(np.asarray(heads), np.asarray(low), np.asarray(high), np.asarray(column))


RIGHT = turn()


def tables(case: Case) -> tuple[Doubles, Doubles]:
    """Cosines and sines of a case, [T, DH / 2]."""
    return case["rope_cos"], case["rope_sin"]


def rows_of(table: Doubles, row: Index) -> Doubles:
    """These rows of a table; NaN where there is none, which is what lies around a buffer."""
    inside = (row >= 0) & (row < len(table))
    found = table[np.clip(row, 0, len(table) - 1)]
    return np.where(inside[:, None], found, np.nan)


def computed(case: Case) -> Doubles:
    """Angles from the row's number, whatever the tables say."""
    return RIGHT(case["qkv"], *reference.rope_tables(case.length))
