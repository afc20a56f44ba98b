"""Right and wrong folds of the rows of a matrix, for any operation: x [rows, columns] to [rows, 1]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Columns = NDArray[np.bool_]
Wrong = Callable[["Fold", Doubles], Doubles]


@dataclass(frozen=True)
class Fold:
    """An operation with its neutral element, which is what an empty row folds to."""

    operation: np.ufunc
    neutral: float

    def __call__(self, x: Doubles) -> Doubles:
        """The fold of each row."""
        folded: Doubles = self.operation.reduce(x, axis=1, keepdims=True, initial=self.neutral)
        return folded

    def of(self, x: Doubles, keep: Columns) -> Doubles:
        """The fold of each row's columns that are kept, `keep` [columns]."""
        return self(x[:, keep])


SUM = Fold(np.add, 0.0)
MAX = Fold(np.maximum, -np.inf)


def columns_of(x: Doubles) -> NDArray[np.intp]:
    """The column numbers 0, 1, ... of a matrix."""
    return np.arange(x.shape[1])


def first(count: int) -> Wrong:
    """Only the first columns."""
    return lambda fold, x: fold(x[:, :count])


def whole(count: int) -> Wrong:
    """Only columns that fill whole groups of `count`."""
    return lambda fold, x: fold(x[:, : x.shape[1] // count * count])


def one_of(period: int) -> Wrong:
    """Only columns 0, period, 2 * period, ...: what one of so many threads was dealt."""
    return lambda fold, x: fold(x[:, ::period])


def low_part(part: int, period: int) -> Wrong:
    """Only columns whose place in their period is below `part`: some of the threads."""
    return lambda fold, x: fold.of(x, columns_of(x) % period < part)


def low_part_twice(part: int, period: int) -> Wrong:
    """The same, folded with itself: a shuffle that leaves its segment returns the lane's own value."""

    def twice(fold: Fold, x: Doubles) -> Doubles:
        half = low_part(part, period)(fold, x)
        return np.asarray(fold.operation(half, half))

    return twice


def halving_tree(threads: int) -> Wrong:
    """A tree that halves with integer division: an odd level loses its last element."""

    def tree(fold: Fold, x: Doubles) -> Doubles:
        rows, columns = x.shape
        padded = np.full((rows, -(-columns // threads) * threads), fold.neutral)
        padded[:, :columns] = x
        leaves: Doubles = fold.operation.reduce(padded.reshape(rows, -1, threads), axis=1)
        half = threads // 2
        while half > 0:
            leaves[:, :half] = fold.operation(leaves[:, :half], leaves[:, half : 2 * half])
            half //= 2
        return leaves[:, :1]

    return tree


def without_last(fold: Fold, x: Doubles) -> Doubles:
    """Every column but the last."""
    return fold(x[:, :-1])


def without_first(fold: Fold, x: Doubles) -> Doubles:
    """Every column but the first."""
    return fold(x[:, 1:])


def of_row_zero(fold: Fold, x: Doubles) -> Doubles:
    """The first row's fold, in every row."""
    return np.repeat(fold(x[:1]), x.shape[0], axis=0)


def read_by_columns(fold: Fold, x: Doubles) -> Doubles:
    """Element (r, c) is read at c * rows + r, as if the matrix lay column after column."""
    rows, columns = x.shape
    return fold(x.reshape(columns, rows).T)


def running(fold: Fold, x: Doubles) -> Doubles:
    """The fold of this row and all before it: the accumulator is not set for a new row."""
    folded: Doubles = fold.operation.accumulate(fold(x), axis=0)
    return folded


def of_lane(lane: int) -> Wrong:
    """What a lane other than 0 holds after five downward shuffles over the columns dealt to 32 lanes.

    A lane that asks beyond lane 31 gets its own value back.
    """
    lanes = 32

    def shuffled(fold: Fold, x: Doubles) -> Doubles:
        value = np.concatenate([one_of(lanes)(fold, x[:, i:]) for i in range(lanes)], axis=1)
        distance = lanes // 2
        while distance > 0:
            source = np.arange(lanes) + distance
            value = fold.operation(value, value[:, np.where(source < lanes, source, np.arange(lanes))])
            distance //= 2
        return value[:, lane : lane + 1]

    return shuffled
