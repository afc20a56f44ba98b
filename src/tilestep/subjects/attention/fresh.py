"""Fresh values for timed calls: as the family normal has them, cheap to draw."""

from __future__ import annotations

import numpy as np

from tilestep.case import Case
from tilestep.contract import KV, QKV_OUT, D
from tilestep.subjects.attention.cases import FAMILIES


def make_fresh(step: str, length: int, entropy: int, number: int) -> Case:
    """A case whose packed tensor is drawn, not taken through the block, in a tenth of the time.

    Q, K and V have the variance that they have behind RMSNorm and the projection, and V its column means.
    """
    rng = np.random.default_rng([entropy, length, len(FAMILIES), number])
    packed = rng.standard_normal((length, QKV_OUT), dtype=np.float32)
    packed[:, D + KV :] += rng.choice((np.float32(-0.5), np.float32(0.5)), size=KV)
    packed.setflags(write=False)
    judged = np.ones(length, dtype=bool)
    return Case(step, length, "normal", entropy, {"T": length}, {"qkv_rotated": packed}, judged)
