"""Rows that a softmax is fed: how many, and five families with a hazard each.

- normal    a few units around a level of the row's own.
- large     levels of 128, 1000, 90 and 104: exp of the bare value overflows from 89 on.
- negative  levels of -1000, -150, -110 and -95: exp of the bare value vanishes, a maximum of 0 is far off.
- late      the values climb along the row, by 20, 60 or 200 in all, or fall by 60, or are flat with one value
            100 above the others at the end: the running maximum moves often, late, or by much.
- masked    some values are -inf: scattered, a leading run, a trailing run, all but one, or every other one.
            Their probability is exactly 0. No row is -inf throughout.

The kinds take turns along the rows, so that neighbouring rows differ by far.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

FAMILIES = ("normal", "large", "negative", "late", "masked")

LARGE_LEVELS = (128.0, 1000.0, 90.0, 104.0)  # the row's largest value
NEGATIVE_LEVELS = (-1000.0, -150.0, -110.0, -95.0)  # likewise
CLIMBS = (20.0, 60.0, 200.0, -60.0)  # from the first value of a row to its last
PEAK = 100.0  # how far the last value of a fifth kind of late row stands above the others
MASKED_SHARE = 0.3
_DEEPEST = 20.0  # how far below the row's level values go in the families with a level


def families(columns: int) -> tuple[str, ...]:
    """What is fed at a number of columns. Raises ValueError below 1."""
    if columns < 1:
        raise ValueError(f"a row has at least 1 column, not {columns}")
    return FAMILIES[:3] if columns == 1 else FAMILIES


def make(rows: int, columns: int, family: str, seed: int) -> Floats:
    """The values [rows, columns] of a family; the same seed makes the same values."""
    if family not in families(columns):
        raise ValueError(f"family {family!r} is not fed at {columns} columns")
    rng = np.random.default_rng([seed, columns, FAMILIES.index(family)])
    build = {"normal": _normal, "large": _large, "negative": _negative, "late": _late, "masked": _masked}
    values = build[family](rows, columns, rng).astype(np.float32)
    values.setflags(write=False)
    return values


def _kinds(rows: int, count: int) -> NDArray[np.int64]:
    return np.arange(rows) % count


def _normal(rows: int, columns: int, rng: np.random.Generator) -> Doubles:
    level = 3.0 * rng.standard_normal((rows, 1))
    return level + 2.0 * rng.standard_normal((rows, columns))


def _below(levels: tuple[float, ...], rows: int, columns: int, rng: np.random.Generator) -> Doubles:
    """Rows whose largest value is exactly a level, the others up to `_DEEPEST` below it."""
    level = np.array(levels)[_kinds(rows, len(levels))][:, None]
    depth = np.minimum(4.0 * np.abs(rng.standard_normal((rows, columns))), _DEEPEST)
    np.put_along_axis(depth, rng.integers(columns, size=(rows, 1)), 0.0, axis=1)
    return np.asarray(level - depth)


def _large(rows: int, columns: int, rng: np.random.Generator) -> Doubles:
    return _below(LARGE_LEVELS, rows, columns, rng)


def _negative(rows: int, columns: int, rng: np.random.Generator) -> Doubles:
    return _below(NEGATIVE_LEVELS, rows, columns, rng)


def _late(rows: int, columns: int, rng: np.random.Generator) -> Doubles:
    kind = _kinds(rows, len(CLIMBS) + 1)
    climb = np.array((*CLIMBS, 0.0))[kind][:, None]
    values = climb * np.arange(columns) / (columns - 1) + rng.standard_normal((rows, columns))
    values[kind == len(CLIMBS), -1] += PEAK
    return np.asarray(values)


def _masked(rows: int, columns: int, rng: np.random.Generator) -> Doubles:
    values = _normal(rows, columns, rng)
    column = np.arange(columns)
    hidden = rng.random((rows, columns)) < MASKED_SHARE
    cut = rng.integers(1, columns, size=rows)
    for row, kind in enumerate(_kinds(rows, 5)):
        if kind == 1:
            hidden[row] = column < cut[row]
        elif kind == 2:
            hidden[row] = column >= cut[row]
        elif kind == 3:
            hidden[row] = True
        elif kind == 4:
            hidden[row] = column % 2 == 0
        hidden[row, rng.integers(columns) if kind in (0, 3) else column[~hidden[row]][0]] = False
    values[hidden] = -np.inf
    return values
