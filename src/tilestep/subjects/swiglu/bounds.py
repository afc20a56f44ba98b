"""How far from float64 an honest fp32 SwiGLU may be, element by element.

Gate and up are dot products of D terms: their roundings grow with the root of the sum of the terms' squares
and with the root of D. The gate's error reaches the output through the slope of silu, which vanishes where
the gate is far below 0; what exp, the division and the products round comes on top.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tilestep import reference
from tilestep.contract import D
from tilestep.tolerance import EXPONENT, LINEAR, TINY, UNALIGNED, UNIT

Doubles = NDArray[np.float64]

VALUE = 32.0  # in UNITs of the product: division and products; divisions by __fdividef among them
SIGMOID = 4.0  # in UNITs of |gate * up|: (1 + tanh) / 2 loses what is small beside 1
STEEPEST = 1.1  # the largest slope of silu


def swiglu(x: Doubles, w_gate: Doubles, w_up: Doubles, gate: Doubles, up: Doubles) -> Doubles:
    """Bound [T, F] on |got - want|, for x [T, D], weights [F, D] and the right gate and up [T, F]."""
    gate_bound, up_bound = _dot(x, w_gate), _dot(x, w_up)
    nearest = np.minimum(gate + gate_bound, 0.0)  # below 0 the slope is under exp(gate) (1 + |gate|)
    slope = np.minimum(STEEPEST, np.exp(nearest) * (1.0 - nearest))
    slope[gate + gate_bound >= 0.0] = STEEPEST
    silu, product = np.abs(reference.silu(gate)), np.abs(gate * up)
    from_dots = silu * up_bound + slope * gate_bound * (np.abs(up) + up_bound)
    depth = np.maximum(
        -gate, 0.0
    )  # exp(-gate) is off by a part of the gate; at a large gate it is lost beside 1
    rounding = (VALUE + EXPONENT * depth) * silu * np.abs(up) + SIGMOID * product
    return np.asarray(from_dots + UNIT * rounding + TINY * (1.0 + np.abs(up)))


def _dot(x: Doubles, weight: Doubles) -> Doubles:
    """Bound [T, F] on the dot products of rows of x [T, D] with rows of a weight [F, D]."""
    squares = (x * x) @ (weight * weight).T
    return np.asarray(UNIT * UNALIGNED * LINEAR * np.sqrt(D * squares))
