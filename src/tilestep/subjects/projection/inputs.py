"""What qkv-projection is fed: normed tokens [T, D] and weights [QKV_OUT, D].

- normal     RMSNorm of random tokens, and the block's own weights.
- outliers   a few channels are hundreds of times larger than the others, as they are in trained models: a
             product in half overflows, and a channel that is left out is missed at once.
- one-sign   all products are positive: partial sums grow all the way, and roundings with them.
- nan-token  one token is NaN, and is not judged: it must not reach another token's row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilestep import reference
from tilestep.contract import QKV_OUT, D
from tilestep.subjects.weights import seeded_weights

Floats = NDArray[np.float32]

FAMILY_NAMES = ("normal", "outliers", "one-sign", "nan-token")

_OUTLIERS = 4
_TIMES = (200.0, 600.0)
_LARGE_WEIGHTS = 400.0  # outliers: times the usual, in every 16th row, so that a half overflows at 65504


class Inputs(NamedTuple):
    """What the seam is handed, and which tokens are judged."""

    x: Floats
    weight: Floats
    judged: NDArray[np.bool_]


def draw(family: str, length: int, seed: int) -> Inputs:
    """The tensors of a family at a number of tokens, from a seed."""
    rng = np.random.default_rng([seed, length, FAMILY_NAMES.index(family)])
    weights = seeded_weights(seed)
    x = reference.rms_norm(rng.standard_normal((length, D)), weights["norm_weight"])
    weight = weights["w_qkv"]
    judged = np.ones(length, dtype=bool)
    if family == "outliers":
        x[:, rng.choice(D, size=_OUTLIERS, replace=False)] *= rng.uniform(*_TIMES, size=_OUTLIERS)
        weight = weight * np.where(np.arange(QKV_OUT) % 16 == 5, _LARGE_WEIGHTS, 1.0)[:, None]
    elif family == "one-sign":
        x, weight = np.abs(x), np.abs(weight)
    elif family == "nan-token":
        spoilt = int(rng.integers(0, length - 1))
        x[spoilt] = np.nan
        judged[spoilt] = False
    inputs = Inputs(x.astype(np.float32), weight.astype(np.float32), judged)
    for array in inputs:
        array.setflags(write=False)
    return inputs
