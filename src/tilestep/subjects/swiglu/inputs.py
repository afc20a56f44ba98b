"""The rows that SwiGLU is fed: three families with a hazard each. The weights are the block's own.

- normal  a few units; gate and up come out a few units wide too.
- steep   rows of 30, 100 and 300 units: gates reach far past +-88, where exp overflows or vanishes, and
          products past 65504, where a half does.
- lone    one value a row that is not 0, in the last column, the first, or anywhere: the output is a single
          weight of each matrix, exactly, and a column that is never read shows alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tilestep.contract import D

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

STEEP_LEVELS = (300.0, 30.0, 100.0)
LONE_RANGE = (16.0, 64.0)  # times a weight of about 1 / sqrt(D): gates of a few units


def make(T: int, family: str, seed: int) -> Floats:
    """x [T, D] of a family; the same seed makes the same values."""
    if family not in FAMILIES:
        raise ValueError(f"family {family!r} is not fed")
    rng = np.random.default_rng([seed, T, FAMILIES.index(family)])
    x = _FAMILIES[family](T, rng).astype(np.float32)
    x.setflags(write=False)
    return x


def _normal(T: int, rng: np.random.Generator) -> Doubles:
    return rng.standard_normal((T, D))


def _steep(T: int, rng: np.random.Generator) -> Doubles:
    level = np.array(STEEP_LEVELS)[np.arange(T) % len(STEEP_LEVELS)][:, None]
    return np.asarray(level * rng.standard_normal((T, D)))


def _lone(T: int, rng: np.random.Generator) -> Doubles:
    x = np.zeros((T, D))
    row = np.arange(T)
    column = np.where(row % 3 == 0, D - 1, np.where(row % 3 == 1, 0, rng.integers(D, size=T)))
    x[row, column] = rng.choice((-1.0, 1.0), size=T) * rng.uniform(*LONE_RANGE, size=T)
    return x


_FAMILIES: dict[str, Callable[[int, np.random.Generator], Doubles]] = {
    "normal": _normal,
    "steep": _steep,
    "lone": _lone,
}
FAMILIES = tuple(_FAMILIES)
