"""How far from float64 an honest fp32 RMSNorm may be: relative to each value, whatever the row's size.

All squares have one sign, so nothing cancels: a sum in any order is off by a few roundings times the root of
its length at most, and the root halves that. The root, the division and the two products add one each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilestep.contract import D
from tilestep.tolerance import TINY, UNIT

VALUE = 16.0  # in UNITs: root, division, products; rsqrtf may be off by four
PER_ROOT_COLUMN = 2.5  # the sum of squares; worst in a serial sum
RELATIVE = UNIT * (VALUE + PER_ROOT_COLUMN * float(np.sqrt(D)))


def rms_norm(want: ArrayLike) -> NDArray[np.float64]:
    """Bound [T, D] on |got - want| for right values [T, D]."""
    return np.asarray(RELATIVE * np.abs(np.asarray(want, dtype=np.float64)) + TINY)
