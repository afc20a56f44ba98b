"""How far from float64 an honest fp32 softmax may be, element by element.

A computed exponential is off by a relative error e_k: the rounding of the exponent, of exp itself and, where
log2(e) is folded into the exponent, of the scaled value. The division takes away the errors that a row
shares: p_j moves by p_j (e_j - sum p_k e_k), and by the roundings of the running sum and the division.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilestep.tolerance import EXPONENT, SUM, SUM_PER_ROOT_KEY, TINY, UNIT, WEIGHT

Doubles = NDArray[np.float64]

VALUE = 4.0  # in UNITs per |value|: x * log2(e) is rounded before the maximum is taken off
TIGHTEST = UNIT * (SUM + SUM_PER_ROOT_KEY)  # relative, where one value has all the weight


def softmax(x: ArrayLike, want: ArrayLike) -> Doubles:
    """Bound [rows, columns] on |got - want| for values x and their right probabilities."""
    x, p = np.asarray(x, dtype=np.float64), np.asarray(want, dtype=np.float64)
    counts = p > 0.0  # a masked value has no error, and -inf none to add
    depth = np.where(counts, x.max(axis=1, keepdims=True) - np.where(counts, x, 0.0), 0.0)
    size = np.where(counts, np.abs(np.where(counts, x, 0.0)), 0.0)
    error = np.where(counts, WEIGHT + EXPONENT * depth + VALUE * size, 0.0)
    weighted = p * error
    others = weighted.sum(axis=1, keepdims=True) - weighted
    from_sum = SUM + SUM_PER_ROOT_KEY * np.sqrt(x.shape[1])
    bound = UNIT * p * ((1.0 - p) * error + others + from_sum) + 2.0 * TINY
    return np.asarray(bound)
