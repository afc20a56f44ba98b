"""The matrices that reductions are fed: sizes, value families, planted hazards.

- normal          both signs, with a mean of its own in each row.
- positive        all values of one sign: partial sums grow all the way, and roundings with them.
- cancelling      large values and their negatives, far apart, beside small ones; the large overflow a half.
- ends            the largest value stands in the last column of even rows, in the first column of odd ones.
- negative        all values below zero, each row a thousand times as far as the row before: a maximum that
                  starts at 0, or at some finite number that seemed low enough, is above them.
- minus-infinity  row 0 holds nothing but -infinity, the others one finite value each, near the lowest float.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]

# One value; narrower than a warp; around a warp; three warps; no multiple of a warp; one past 256 threads;
# longer than any block.
COLUMNS = (1, 3, 31, 33, 96, 200, 257, 1100)

_LARGE = (1e4, 1e5)  # cancelling: half overflows at 65504
_PAIRS = 8  # cancelling: at most; more would only widen the bound
_LOWEST = (-3.3e38, -1e38)  # minus-infinity: the lowest float is -3.4e38


def rows_of(columns: int) -> int:
    """The rows that go with a number of columns: an odd number, so that no group of warps or blocks fits."""
    return 1 if columns == 1 else 5 + 2 * (columns % 4)


def draw(family: str, columns: int, rng: np.random.Generator) -> Floats:
    """A matrix [rows, columns] of a family."""
    values = _FAMILIES[family](rng, rows_of(columns), columns).astype(np.float32)
    values.setflags(write=False)
    return values


def _normal(rng: np.random.Generator, rows: int, columns: int) -> Doubles:
    return rng.choice((-0.5, 0.5), size=(rows, 1)) + rng.standard_normal((rows, columns))


def _positive(rng: np.random.Generator, rows: int, columns: int) -> Doubles:
    return rng.uniform(0.5, 2.5, size=(rows, columns))


def _cancelling(rng: np.random.Generator, rows: int, columns: int) -> Doubles:
    large = rng.uniform(*_LARGE, size=(rows, min(columns // 2, _PAIRS)))
    rest = np.zeros((rows, columns - 2 * large.shape[1]))
    pairs = np.concatenate([large, -large, rest], axis=1)
    return rng.permuted(pairs, axis=1) + _normal(rng, rows, columns)


def _ends(rng: np.random.Generator, rows: int, columns: int) -> Doubles:
    values = _normal(rng, rows, columns)
    row = np.arange(rows)
    column = np.where(row % 2 == 0, columns - 1, 0)
    values[row, column] = values.max(axis=1) + rng.uniform(0.5, 1.5, size=rows)
    return values


def _negative(rng: np.random.Generator, rows: int, columns: int) -> Doubles:
    scale = 1000.0 ** np.arange(rows)[:, None]
    return -scale * rng.uniform(1.0, 9.0, size=(rows, columns))


def _minus_infinity(rng: np.random.Generator, rows: int, columns: int) -> Doubles:
    values = np.full((rows, columns), -np.inf)
    row = np.arange(1, rows)
    column = rng.integers(0, columns, size=rows - 1)
    column[0] = columns // 2  # at neither end: no single column is right in all rows
    values[row, column] = rng.uniform(*_LOWEST, size=rows - 1)
    return values


_FAMILIES: dict[str, Callable[[np.random.Generator, int, int], Doubles]] = {
    "normal": _normal,
    "positive": _positive,
    "cancelling": _cancelling,
    "ends": _ends,
    "negative": _negative,
    "minus-infinity": _minus_infinity,
}
FAMILY_NAMES = tuple(_FAMILIES)
