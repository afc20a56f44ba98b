"""Mistakes that are known by what the output looks like, where no formula gives the wrong values.

Every step can make them: each function gives the mistake with the step's own lesson.
"""

from __future__ import annotations

import numpy as np

from tilestep.mistakes.named import Mistake, Pattern, one
from tilestep.mistakes.observation import Observation

_BF16 = 2.0**-7  # the largest relative error of a value cut to bf16
_LEAST_SHARE = 0.02


def not_written(lesson: str) -> Mistake:
    """Part of the output still holds the bytes that it was filled with."""
    return Mistake(
        "output-not-written",
        "part of the output is never written",
        "The wrong elements still hold the NaN that the output was filled with: never set, or only added to.",
        lesson,
        pattern=_not_written,
    )


def zeros(lesson: str) -> Mistake:
    """An output of zeros only."""
    return Mistake(
        "output-zero",
        "the output is all zeros",
        "Every element of the output is 0.",
        lesson,
        one(lambda _: np.zeros((1, 1))),
    )


def low_precision(lesson: str, tightest: float) -> Mistake:
    """Small errors in many places: what rounding to 8 or 11 bits does, and no formula.

    `tightest` is the smallest tolerance of the step relative to its value.
    """
    return Mistake(
        "low-precision",
        "arithmetic below fp32",
        "The errors are small and everywhere, as TF32, bf16 or fp16 make them: bits of fp32 are lost.",
        lesson,
        pattern=_low_precision(_BF16 / tightest),
        fallback=True,
    )


def _not_written(seen: Observation) -> bool:
    """Every wrong element still holds the bytes that the output was filled with."""
    return bool(np.all(seen.unwritten[seen.wrong]))


def _low_precision(largest_ratio: float) -> Pattern:
    def fits(seen: Observation) -> bool | None:
        """A case with small errors in a few places fits, but shows nothing."""
        if seen.ratio > largest_ratio:
            return False
        return True if float(np.mean(seen.wrong)) >= _LEAST_SHARE else None

    return fits
