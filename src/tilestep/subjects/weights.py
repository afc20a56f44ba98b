"""The block's weights from a seed: one set a run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tilestep.contract import WEIGHTS


@lru_cache(maxsize=2)
def seeded_weights(seed: int) -> Mapping[str, NDArray[np.float32]]:
    """Every weight by name; products keep the variance of what they are fed, norm weights are near 1."""
    rng = np.random.default_rng([seed])
    weights: dict[str, NDArray[np.float32]] = {}
    for name, shape in WEIGHTS.items():
        mean, scale = (1.0, 8.0) if len(shape) == 1 else (0.0, float(np.sqrt(shape[1])))
        weights[name] = np.asarray(mean + rng.standard_normal(shape) / scale, dtype=np.float32)
        weights[name].setflags(write=False)
    return weights


@lru_cache(maxsize=2)
def weights_in_double(seed: int) -> Mapping[str, NDArray[np.float64]]:
    """The same in float64."""
    return {name: weight.astype(np.float64) for name, weight in seeded_weights(seed).items()}
