"""How far an honest fp32 product x w^T may be off.

A dot product's roundings are relative to its partial sums. In whatever order its terms are added, partial
sums wander by the root of the sum of squares and drift towards the result, so the scale is that root and the
result; n terms one after another make errors that grow with the root of n. The bound is four times the worst
that was seen, in serial sums whose terms all have one sign; trees and tiles stay far below.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilestep.tolerance import UNIT

Doubles = NDArray[np.float64]

PER_ROOT_TERM = 6.0  # UNITs at the scale, for each root of a number of terms
_SMALLEST = float(np.finfo(np.float32).tiny)


def of_product(x: ArrayLike, weight: ArrayLike, want: ArrayLike) -> Doubles:
    """Bound [T, out] on x [T, in] times weight [out, in] transposed, whose right value is `want`."""
    size, weights = np.asarray(x, dtype=np.float64), np.asarray(weight, dtype=np.float64)
    scale = np.sqrt((size * size) @ (weights * weights).T) + np.abs(np.asarray(want, dtype=np.float64))
    return np.asarray(PER_ROOT_TERM * UNIT * np.sqrt(size.shape[1]) * scale + _SMALLEST)
