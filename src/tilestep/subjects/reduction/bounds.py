"""How far an honest fp32 fold may be off.

A sum's roundings are relative to its partial sums, which are at most the sum of magnitudes S, whatever
cancels. Added one after another, n values of one sign are off by about UNIT * S * sqrt(n) at worst; a tree is
off by less. The bound is four times that. A maximum rounds nothing: its bound admits no other float.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilestep.tolerance import UNIT

Doubles = NDArray[np.float64]

SUM = 4.0  # UNITs at the sum of magnitudes
SUM_PER_ROOT_COLUMN = 4.0
PICK = 0.5  # UNITs: half of what lies between a float and its neighbour

_SMALLEST = float(np.finfo(np.float32).smallest_subnormal)


def of_sum(x: ArrayLike) -> Doubles:
    """Bound [rows, 1] on the sums of the rows of x [rows, columns]."""
    size = np.abs(np.asarray(x, dtype=np.float64))
    roundings = SUM + SUM_PER_ROOT_COLUMN * np.sqrt(size.shape[1])
    return np.asarray(UNIT * roundings * size.sum(axis=1, keepdims=True) + _SMALLEST)


def of_max(want: ArrayLike) -> Doubles:
    """Bound [rows, 1] on values [rows, 1] that are picked, not computed."""
    size = np.abs(np.asarray(want, dtype=np.float64))
    return PICK * (UNIT * np.where(np.isfinite(size), size, 0.0) + _SMALLEST)
