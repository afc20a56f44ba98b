"""A median and how sure it is: bootstrap, seeded, so that equal numbers give equal answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A median, and the ends of its confidence interval."""

    median: float
    low: float
    high: float


def median_interval(values: Sequence[float], seed: int) -> Interval:
    """The median of the values with its 95 % interval: the percentiles of the medians of 2,000 resamples.

    Nothing is assumed of the values' distribution; they must be independent of each other. Raises ValueError
    for none, and for one that is not finite: a time that cannot be read is no time.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size == 0:
        raise ValueError("a median needs at least one value")
    if not np.isfinite(sample).all():
        raise ValueError("every value of a median must be finite")
    rng = np.random.default_rng([seed, sample.size])
    drawn = sample[rng.integers(0, sample.size, size=(RESAMPLES, sample.size))]
    outside = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(np.median(drawn, axis=1), (outside, 1.0 - outside))
    return Interval(float(np.median(sample)), float(low), float(high))
