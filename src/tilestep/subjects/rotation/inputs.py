"""What rope is fed: packed tensors [T, QKV_OUT] and tables [T, DH / 2].

- normal        Q, K and V as a projection makes them; the tables begin at position 0, which is the identity.
- later         the tables begin at a later position, as they do for tokens that continue a cached text:
                angles are what the tables say, and no function of the row.
- cancelling    low * cos and high * sin are nearly equal in even dims, high * cos and low * sin nearly
                opposite in odd ones: the results are small beside what they are the difference of.
- special-v     V holds infinities, subnormals and floats near the largest. They must stay: not even turned by
                the angle 0, since infinity * 0 is NaN.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilestep import reference
from tilestep.contract import DH, HKV, HQ, KV, QKV_OUT, D

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]

PAIRS = DH // 2
FAMILY_NAMES = ("normal", "later", "cancelling", "special-v")

_LATER = (150, 1000)  # later: the first row's position lies in between
_SMALL = 1e-3  # cancelling: results over terms
_SPECIAL = (np.inf, -np.inf, 1e-40, -1e-42, 2e38, -2e38)  # a sum of two of them is finite


class Inputs(NamedTuple):
    """What the seam is handed."""

    qkv: Floats
    cos: Floats
    sin: Floats


def draw(family: str, length: int, seed: int) -> Inputs:
    """The tensors of a family at a number of tokens, from a seed."""
    rng = np.random.default_rng([seed, length, FAMILY_NAMES.index(family)])
    first = int(rng.integers(*_LATER)) if family == "later" else 0
    cos, sin = (table[first:].astype(np.float32) for table in reference.rope_tables(first + length))
    qkv = rng.standard_normal((length, QKV_OUT))
    if family == "cancelling":
        _cancel(qkv, cos, sin, rng)
    packed = qkv.astype(np.float32)
    if family == "special-v":
        _plant(packed, rng)
    return Inputs(packed, cos, sin)


def _cancel(qkv: Doubles, cos: Floats, sin: Floats, rng: np.random.Generator) -> None:
    """Turns points back that lie almost on an axis: what is turned again almost lies there too."""
    T = len(qkv)
    size = rng.uniform(1.0, 3.0, size=(T, HQ + HKV, PAIRS)) * rng.choice((-1.0, 1.0), (T, HQ + HKV, PAIRS))
    small = _SMALL * size * rng.uniform(-1.0, 1.0, size=size.shape)
    even = np.arange(PAIRS) % 2 == 0
    low, high = np.where(even, small, size), np.where(even, size, small)
    c, s = cos[:, None, :].astype(np.float64), sin[:, None, :].astype(np.float64)
    heads = qkv[:, : D + KV].reshape(T, HQ + HKV, 2, PAIRS)
    heads[:, :, 0] = low * c + high * s
    heads[:, :, 1] = high * c - low * s


def _plant(packed: Floats, rng: np.random.Generator) -> None:
    """A special value in a quarter of V."""
    v = packed[:, D + KV :]
    planted = rng.random(v.shape) < 0.25
    v[planted] = rng.choice(np.array(_SPECIAL, dtype=np.float32), size=int(planted.sum()))
