"""What the whole block starts from, and what its output must be for the attention output that came."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilestep import contract, reference, tolerance
from tilestep.judge.compare import Array, Compared
from tilestep.judge.trusted import LAST
from tilestep.subjects.weights import seeded_weights, weights_in_double


def block_inputs(length: int, seed: int) -> dict[str, Array]:
    """x, the weights and the tables of the rotation, all float32."""
    x = np.random.default_rng([seed, length]).standard_normal((length, contract.D), dtype=np.float32)
    cos, sin = (table.astype(np.float32) for table in reference.rope_tables(length))
    return {"x": x, "rope_cos": cos, "rope_sin": sin, **seeded_weights(seed)}


def compare_last(tensors: Mapping[str, Array], seed: int) -> Compared:
    """The block's output beside float64 from the attention output that was returned."""
    x, attention, weights = tensors["x"], tensors["attention_output"], weights_in_double(seed)
    want = reference.tail(x, attention, weights)[LAST]
    bound = tolerance.tail(x, attention, weights, np.zeros_like(attention, dtype=np.float64))[LAST]
    return Compared(LAST, tensors[LAST], want, bound, np.ones(x.shape[0], dtype=bool))
