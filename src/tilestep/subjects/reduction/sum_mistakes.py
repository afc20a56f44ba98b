"""Mistakes of a sum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tilestep.mistakes import Mistake, Observation
from tilestep.mistakes.patterns import low_precision
from tilestep.subjects.protocol import Case
from tilestep.subjects.reduction import bounds, folds
from tilestep.subjects.reduction.folds import Doubles, Fold, Wrong
from tilestep.subjects.reduction.mistakes import BLOCKS, Folds, mistake
from tilestep.tolerance import UNIT

_HALF_MAX = 65504.0
_LOST = 2.0**-6  # at the sum of magnitudes: what a few bf16 additions lose


def _twice(fold: Fold, x: Doubles) -> Doubles:
    return 2.0 * fold(x)


def _mean(fold: Fold, x: Doubles) -> Doubles:
    return np.asarray(fold(x) / x.shape[1])


def _own_first_twice(threads: int) -> Wrong:
    """Each thread starts from its first column, and its loop adds that column again."""
    return lambda fold, x: fold(x) + fold(x[:, :threads])


def _truncated(fold: Fold, x: Doubles) -> Doubles:
    return fold(np.trunc(x))


def _truncated_result(fold: Fold, x: Doubles) -> Doubles:
    return np.trunc(fold(x))


def _integer_partials(threads: int) -> Wrong:
    """Each thread's partial sum is an int: every addition drops the fraction."""

    def of(fold: Fold, x: Doubles) -> Doubles:
        rows, columns = x.shape
        partial = np.zeros((rows, threads))
        for start in range(0, columns, threads):
            stride = x[:, start : start + threads]
            width = stride.shape[1]
            partial[:, :width] = np.trunc(partial[:, :width] + stride)
        return fold(partial)

    return of


def of_values(lesson: str, outputs: Folds) -> tuple[Mistake, ...]:
    """What is added, and into what."""
    strides = (32, *BLOCKS)
    return (
        mistake(
            "counted-twice",
            "everything is added twice",
            "Every value is counted twice: two threads add the same columns, or two results are added up.",
            lesson,
            outputs,
            [("", _twice)],
        ),
        mistake(
            "first-value-twice",
            "a thread's first value is added twice",
            "The accumulator starts from the thread's first value, and the loop adds that value again.",
            lesson,
            outputs,
            [(f"{count} threads", _own_first_twice(count)) for count in (1, *strides)],
        ),
        mistake(
            "mean-instead-of-sum",
            "the mean is stored, not the sum",
            "The sum is divided by the number of columns.",
            lesson,
            outputs,
            [("", _mean)],
        ),
        mistake(
            "integer-accumulator",
            "the sum is kept in an int",
            "An accumulator, a value or an array is an int: fractions are dropped on the way.",
            lesson,
            outputs,
            [
                ("each value", _truncated),
                ("the result", _truncated_result),
                *((f"partial sums of {count}", _integer_partials(count)) for count in (1, *strides)),
            ],
        ),
    )


def low_precision_sum(lesson: str) -> Mistake:
    """Errors at the scale of a row's magnitudes, or infinities where a half overflows."""
    return replace(low_precision(lesson, UNIT * bounds.SUM), pattern=_few_bits)


def _few_bits(seen: Observation) -> bool | None:
    if not isinstance(seen.given, Case):
        return None
    size: NDArray[np.float64] = np.abs(seen.given["matrix"]).sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        small = np.abs(seen.got - seen.want) <= _LOST * size
    overflowed = ~np.isfinite(seen.got) & ~seen.unwritten & (size > _HALF_MAX)
    if not bool(np.all((small | overflowed)[seen.rows])):
        return False
    return True if float(np.mean(seen.wrong)) >= 0.2 else None


SUM_OUTPUT: Folds = {"sums": folds.SUM}
