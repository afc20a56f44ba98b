"""How far an honest fp32 rotation may be off.

low * cos - high * sin rounds two products and their difference: at most two roundings at the size of the
terms, however much cancels, and one less where the compiler contracts. The bound is four times that. Where an
angle is 0 nothing rounds: x * 1 - y * 0 is x, so position 0 is the identity to the bit. V is not computed at
all: nothing but its own values will do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilestep.contract import DH, HKV, HQ, KV, D
from tilestep.tolerance import UNIT

Doubles = NDArray[np.float64]

ROTATION = 8.0  # UNITs at |low cos| + |high sin|
_SMALLEST = float(np.finfo(np.float32).tiny)  # a product below this may be flushed to zero


def of_rotation(qkv: ArrayLike, cos: ArrayLike, sin: ArrayLike) -> Doubles:
    """Bound [T, QKV_OUT] on the rotated tensor, from what is rotated and the tables [T, DH / 2]."""
    packed = np.asarray(qkv, dtype=np.float64)
    T = len(packed)
    bound = np.zeros_like(packed)
    heads = np.abs(packed[:, : D + KV].reshape(T, HQ + HKV, 2, DH // 2))
    low, high = heads[:, :, 0], heads[:, :, 1]
    c = np.abs(np.asarray(cos, dtype=np.float64))[:, None, :]
    s = np.abs(np.asarray(sin, dtype=np.float64))[:, None, :]
    identity = (c == 1.0) & (s == 0.0)
    terms = np.stack([low * c + high * s, high * c + low * s], axis=2)
    allowed = np.where(identity[:, :, None, :], 0.0, ROTATION * UNIT * terms + _SMALLEST)
    bound[:, : D + KV] = allowed.reshape(T, D + KV)
    return bound
