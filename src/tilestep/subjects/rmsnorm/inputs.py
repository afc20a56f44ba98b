"""The rows that RMSNorm is fed: four families with a hazard each, and weights far from 1.

- normal   a few units, with a mean of their own in each row: a mean that is subtracted shows.
- tiny     mean squares around epsilon and far below it; every fifth row from the second on is all zeros.
- large    values of 300, 1e5, 1e12 and 1e16: their squares overflow half precision, never fp32.
- outlier  one value a row stands a thousand times above the others, as in trained models: in the last column,
           in the first, or anywhere.

Weights are between 1/4 and 4 and of either sign, so that one that is left out or applied twice shows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tilestep.contract import D

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

TINY_LEVELS = (1e-3, 0.0, 3e-3, 1e-4, 1e-2)
LARGE_LEVELS = (300.0, 1e5, 1e12, 1e16)  # the sum of 512 squares of the last is 5e34; fp32 ends at 3e38
OUTLIER = 1000.0
WEIGHT_RANGE = (0.25, 4.0)
_NORMAL_LEVEL = 2.0  # epsilon is lost in the roundings there
_MEAN = 0.5  # of a row, in its own units


def make(T: int, family: str, seed: int) -> tuple[Floats, Floats]:
    """x [T, D] and the weight [1, D] of a family; the same seed makes the same values."""
    if family not in FAMILIES:
        raise ValueError(f"family {family!r} is not fed")
    rng = np.random.default_rng([seed, T, FAMILIES.index(family)])
    x = _FAMILIES[family](T, rng).astype(np.float32)
    low, high = np.log(WEIGHT_RANGE)
    size = np.exp(rng.uniform(low, high, size=(1, D)))
    weight = (rng.choice((-1.0, 1.0), size=(1, D)) * size).astype(np.float32)
    for array in (x, weight):
        array.setflags(write=False)
    return x, weight


def _normal(T: int, rng: np.random.Generator) -> Doubles:
    return _NORMAL_LEVEL * _unit(T, rng)


def _unit(T: int, rng: np.random.Generator) -> Doubles:
    return rng.choice((-_MEAN, _MEAN), size=(T, 1)) + rng.standard_normal((T, D))


def _at(levels: tuple[float, ...], T: int, rng: np.random.Generator) -> Doubles:
    """Rows of a level each, the levels in turn."""
    level = np.array(levels)[np.arange(T) % len(levels)][:, None]
    return np.asarray(level * _unit(T, rng))


def _tiny(T: int, rng: np.random.Generator) -> Doubles:
    return _at(TINY_LEVELS, T, rng)


def _large(T: int, rng: np.random.Generator) -> Doubles:
    return _at(LARGE_LEVELS, T, rng)


def _outlier(T: int, rng: np.random.Generator) -> Doubles:
    x = _unit(T, rng)
    row = np.arange(T)
    column = np.where(row % 3 == 0, D - 1, np.where(row % 3 == 1, 0, rng.integers(D, size=T)))
    x[row, column] = rng.choice((-OUTLIER, OUTLIER), size=T)
    return x


_FAMILIES: dict[str, Callable[[int, np.random.Generator], Doubles]] = {
    "normal": _normal,
    "tiny": _tiny,
    "large": _large,
    "outlier": _outlier,
}
FAMILIES = tuple(_FAMILIES)
