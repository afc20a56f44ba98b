"""Mistakes of a maximum."""

from __future__ import annotations

import numpy as np

from tilestep.mistakes import Mistake
from tilestep.subjects.reduction import folds
from tilestep.subjects.reduction.folds import Doubles, Fold, Wrong
from tilestep.subjects.reduction.mistakes import Folds, mistake

_FLT_MIN = float(np.finfo(np.float32).tiny)
_FLT_MAX = float(np.finfo(np.float32).max)
_NOT_LOW_ENOUGH = (1.0, 10.0, 100.0, *(10.0**e for e in range(3, 39)), 99999.0, 9999.0, 999999.0, 2.0**31)


def from_start(start: float) -> Wrong:
    """The maximum of the row and of what the accumulator started from."""
    return lambda fold, x: np.maximum(fold(x), start)


def starts_at_zero(lesson: str, outputs: Folds) -> Mistake:
    """Right wherever a row has a value that is not negative."""
    return mistake(
        "max-starts-at-zero",
        "the maximum starts at 0",
        "The maximum starts at 0, or idle threads bring 0: a row of negative values is below that.",
        lesson,
        outputs,
        [("0", from_start(0.0)), ("FLT_MIN", from_start(_FLT_MIN))],
    )


def starts_at_finite(lesson: str, outputs: Folds) -> Mistake:
    """Right until a row stays below the number."""
    return mistake(
        "max-starts-at-finite",
        "the maximum starts at a finite number",
        "The maximum starts at a finite number, and a row may stay below any: only -infinity is neutral.",
        lesson,
        outputs,
        [
            ("-FLT_MAX", from_start(-_FLT_MAX)),
            *((f"-{size:g}", from_start(-size)) for size in _NOT_LOW_ENOUGH),
        ],
    )


def _smallest(fold: Fold, x: Doubles) -> Doubles:
    smallest: Doubles = x.min(axis=1, keepdims=True)
    return smallest


def _largest_magnitude(fold: Fold, x: Doubles) -> Doubles:
    return fold(np.abs(x))


def _index(fold: Fold, x: Doubles) -> Doubles:
    return np.asarray(x.argmax(axis=1)[:, None], dtype=np.float64)


def _as_integers(start: float | None) -> Wrong:
    """Compared by their bits as a signed int: among negative floats the lowest has the largest bits.

    `start` is a negative float that the accumulator starts from; None for the smallest int.
    """

    def of(fold: Fold, x: Doubles) -> Doubles:
        lowest = x.min(axis=1, keepdims=True)
        if start is not None:
            lowest = np.minimum(lowest, start)
        largest = fold(x)
        return np.where(largest >= 0.0, largest, lowest)

    return of


def of_values(lesson: str, outputs: Folds) -> tuple[Mistake, ...]:
    """What is compared, and what is stored."""
    return (
        mistake(
            "min-instead-of-max",
            "the smallest value is stored",
            "The comparison is the wrong way round: the smallest value of the row is stored.",
            lesson,
            outputs,
            [("", _smallest)],
        ),
        mistake(
            "float-bits-as-int",
            "floats are compared by their bits as ints",
            "Positive floats are ordered as the ints of their bits are; negative ones the other way round.",
            lesson,
            outputs,
            [
                ("from the smallest int", _as_integers(None)),
                ("from -FLT_MAX", _as_integers(-_FLT_MAX)),
                ("from -infinity", _as_integers(-np.inf)),
            ],
        ),
        mistake(
            "max-of-magnitudes",
            "the largest magnitude is stored",
            "The values are compared without their sign.",
            lesson,
            outputs,
            [("", _largest_magnitude)],
        ),
        mistake(
            "index-instead-of-value",
            "the column of the maximum is stored",
            "The position of the largest value is stored, not the value.",
            lesson,
            outputs,
            [("", _index)],
        ),
        mistake(
            "low-precision",
            "arithmetic below fp32",
            "The maximum went through a half or a bf16: a picked value is exact, and this one has lost bits.",
            lesson,
            outputs,
            [("half", _as_half), ("bf16", _as_bf16)],
        ),
    )


def _as_half(fold: Fold, x: Doubles) -> Doubles:
    return fold(x).astype(np.float16).astype(np.float64)


def _as_bf16(fold: Fold, x: Doubles) -> Doubles:
    """Rounded to the 16 upper bits of a float, ties to even."""
    bits = fold(x).astype(np.float32).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = (bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32).astype(np.float64)


MAX_OUTPUT: Folds = {"maxima": folds.MAX}
