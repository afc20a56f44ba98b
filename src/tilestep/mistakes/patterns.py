"""Mistakes that are known by what the output looks like, where no formula gives the wrong values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilestep.mistakes.arithmetic import Doubles
from tilestep.mistakes.named import Mistake, one
from tilestep.mistakes.observation import Observation
from tilestep.tolerance import SUM, SUM_PER_ROOT_KEY, UNIT

# Values cut to bf16 are off by up to 2^-7; the tightest bound is that of a row with one key.
_LOW_PRECISION_RATIO = 2.0**-7 / (UNIT * (SUM + SUM_PER_ROOT_KEY))
_LOW_PRECISION_LEAST_SHARE = 0.02


def _not_written(seen: Observation) -> bool:
    """Every wrong element still holds the bytes that the output was filled with."""
    return bool(np.all(seen.unwritten[seen.wrong]))


def _low_precision(seen: Observation) -> bool | None:
    """Small errors in many places: what rounding to 8 or 11 bits does, and no formula.

    A case with small errors in a few places fits, but shows nothing.
    """
    if seen.ratio > _LOW_PRECISION_RATIO:
        return False
    return True if float(np.mean(seen.wrong)) >= _LOW_PRECISION_LEAST_SHARE else None


def _zeros(seen_rows: int, width: int) -> Doubles:
    return np.zeros((seen_rows, width))


WRITTEN: tuple[Mistake, ...] = (
    Mistake(
        "output-not-written",
        "part of the output is never written",
        "The wrong elements still hold the NaN that the output was filled with: never set, or only added to.",
        "causal-attention",
    ),
    Mistake(
        "output-zero",
        "the output is all zeros",
        "Every element of the output is 0.",
        "causal-attention",
        one(lambda packed: _zeros(packed.T, packed.q.shape[0] * packed.q.shape[2])),
    ),
)
LAST: tuple[Mistake, ...] = (
    Mistake(
        "low-precision",
        "arithmetic below fp32",
        "The errors are small and everywhere, as TF32, bf16 or fp16 make them: bits of fp32 are lost.",
        "online-attention",
    ),
)

# Whether a failing case shows the pattern; None where it says nothing.
PATTERNS: dict[str, Callable[[Observation], bool | None]] = {
    "output-not-written": _not_written,
    "low-precision": _low_precision,
}
