"""Mistakes that one thread can make with one row: the maximum, the exponential, the denominator."""

from __future__ import annotations

import numpy as np

from tilestep.mistakes.arithmetic import Doubles, exp2, fp32
from tilestep.mistakes.named import Hypothesis, Mistake
from tilestep.subjects.softmax.arithmetic import (
    Formula,
    divided,
    largest,
    shifted,
    softmax,
    total,
    ways,
)

_LOG2E = float(np.log2(np.e))
_EPSILONS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)


def _weights(x: Doubles) -> Doubles:
    return shifted(x, largest(x))


def _over(denominator: Formula) -> Formula:
    """exp(x - max) over a wrong denominator [rows, 1], computed from the values."""
    return lambda x: divided(_weights(x), denominator(x))


def _total_of(pick: Formula) -> Formula:
    """exp(x - max) over a denominator that is picked from the right ones of all rows [rows, 1]."""
    return _over(lambda x: pick(total(_weights(x))))


def _next(per_row: Doubles) -> Doubles:
    return np.roll(per_row, -1, axis=0)


def _previous(per_row: Doubles) -> Doubles:
    return np.roll(per_row, 1, axis=0)


def _first(per_row: Doubles) -> Doubles:
    return np.broadcast_to(per_row[:1], per_row.shape)


def _so_far(per_row: Doubles) -> Doubles:
    return fp32(np.cumsum(per_row, axis=0))


def _whole(per_row: Doubles) -> Doubles:
    return np.full_like(per_row, per_row.sum())


def _log_softmax(x: Doubles) -> Doubles:
    return fp32(x - largest(x) - np.log(total(_weights(x))))


def _sum_before_shift(x: Doubles) -> Doubles:
    return divided(_weights(x), total(shifted(x, 0.0)))


def _over_rows(x: Doubles) -> Doubles:
    p = shifted(x, x.max(axis=0, keepdims=True))
    return divided(p, p.sum(axis=0, keepdims=True))


def _without(x: Doubles, column: int, in_max: bool, in_sum: bool) -> Doubles:
    hidden = x.copy()
    hidden[:, column] = -np.inf
    shift = largest(hidden if in_max else x)
    return divided(shifted(x, shift), total(shifted(hidden if in_sum else x, shift)))


def _last_unwritten(x: Doubles) -> Doubles:
    out = _without(x, -1, in_max=True, in_sum=True)
    out[:, -1] = np.nan
    return out


def _columns_first(write: bool) -> Formula:
    """x[j * rows + i] is read as row i's column j; the output goes to that place, or to the right one."""

    def output(x: Doubles) -> Doubles:
        read = x.reshape(x.shape[1], x.shape[0]).T
        p = softmax(read, largest(read))
        return np.ascontiguousarray(p.T).reshape(x.shape) if write else p

    return output


def _epsilon(epsilon: float) -> Hypothesis:
    return Hypothesis(
        f"{epsilon:g}", lambda case: _over(lambda x: total(_weights(x)) + epsilon)(case["matrix"])
    )


def no_max_subtraction(lesson: str) -> Mistake:
    return Mistake(
        "no-max-subtraction",
        "the maximum is not subtracted",
        "exp is taken of the bare values: past 88 it overflows to infinity, below -104 it is 0.",
        lesson,
        ways({"": lambda x: softmax(x, 0.0)}),
    )


def max_starts_at_zero(lesson: str) -> Mistake:
    return Mistake(
        "max-starts-at-zero",
        "the running maximum starts at 0",
        "The maximum starts at 0, not at -infinity: where all values are far below 0 every exp vanishes.",
        lesson,
        ways({"": lambda x: softmax(x, np.maximum(largest(x), 0.0))}),
    )


def exp2_without_log2e(lesson: str) -> Mistake:
    return Mistake(
        "exp2-without-log2e",
        "exp2 without log2(e)",
        "exp2 is taken of values that were not multiplied by log2(e): the base is 2, not e.",
        lesson,
        ways({"": lambda x: softmax(x, largest(x), exp2)}),
    )


def no_normalisation(lesson: str) -> Mistake:
    return Mistake(
        "no-normalisation",
        "the division by the denominator is missing",
        "exp(x - max) is written as it is: each row sums to its denominator, not to 1.",
        lesson,
        ways({"": _weights}),
    )


STABLE: tuple[Mistake, ...] = (
    no_max_subtraction("stable-softmax"),
    max_starts_at_zero("stable-softmax"),
    Mistake(
        "max-is-one-score",
        "one value stands in for the maximum",
        "A single value of the row is subtracted, not the largest: a value 88 above it overflows exp.",
        "stable-softmax",
        ways(
            {
                "the first": lambda x: softmax(x, x[:, :1]),
                "the last": lambda x: softmax(x, x[:, -1:]),
            }
        ),
    ),
    exp2_without_log2e("stable-softmax"),
    Mistake(
        "exponent-sign",
        "the exponent has the wrong sign",
        "exp is taken of max - x: the smallest value gets the largest probability.",
        "stable-softmax",
        ways(
            {
                "with the maximum": lambda x: divided(
                    shifted(-x, -largest(x)), total(shifted(-x, -largest(x)))
                ),
                "with the minimum": lambda x: softmax(-x, largest(-x)),
            }
        ),
    ),
    Mistake(
        "log-softmax",
        "the logarithm of the softmax is returned",
        "x - max - log(sum) is written: the logarithm of the probability, not the probability.",
        "stable-softmax",
        ways({"": _log_softmax}),
    ),
    no_normalisation("stable-softmax"),
    Mistake(
        "wrong-denominator",
        "the division is by something else than the sum of the exponentials",
        "exp(x - max) is divided, but not by the sum of its row: the row does not sum to 1.",
        "stable-softmax",
        ways(
            {
                "the maximum": _over(largest),
                "the number of columns": _over(lambda x: np.full((x.shape[0], 1), float(x.shape[1]))),
                "the sum of the values": _over(total),
                "the largest exponential less 1": _over(lambda x: total(_weights(x)) - 1.0),
            }
        ),
    ),
    Mistake(
        "sum-before-shift",
        "the sum is taken before the subtraction",
        "The denominator sums exp(x), the numerator is exp(x - max): they differ by a factor of exp(max).",
        "stable-softmax",
        ways({"": _sum_before_shift}),
    ),
    Mistake(
        "sum-of-another-row",
        "the denominator is another row's",
        "The row is divided by the sum of a neighbouring row, or of the first one.",
        "stable-softmax",
        ways(
            {
                "the next row's": _total_of(_next),
                "the previous row's": _total_of(_previous),
                "row 0's": _total_of(_first),
            }
        ),
    ),
    Mistake(
        "accumulator-not-reset",
        "the sum runs on from row to row",
        "The denominator keeps what earlier rows added: it is set to 0 once, not once a row.",
        "stable-softmax",
        ways({"up to the row": _total_of(_so_far), "of all rows": _total_of(_whole)}),
    ),
    Mistake(
        "softmax-wrong-axis",
        "the softmax runs along a wrong axis",
        "Each column sums to 1, not each row: maximum and sum are taken over the rows.",
        "stable-softmax",
        ways({"": _over_rows}),
    ),
    Mistake(
        "read-by-columns",
        "rows are read at a wrong stride",
        "Row i starts at i * columns; the values are addressed as if columns came first.",
        "stable-softmax",
        ways({"read and written": _columns_first(write=True), "read": _columns_first(write=False)}),
    ),
    Mistake(
        "end-column-missing",
        "the last column is left out",
        "A loop ends one column early: the last value takes no part.",
        "stable-softmax",
        ways(
            {
                "in the sum": lambda x: _without(x, -1, in_max=False, in_sum=True),
                "in the maximum": lambda x: _without(x, -1, in_max=True, in_sum=False),
                "in the maximum and the sum": lambda x: _without(x, -1, in_max=True, in_sum=True),
                "everywhere": _last_unwritten,
            }
        ),
    ),
    Mistake(
        "epsilon-in-denominator",
        "a constant is added to the denominator",
        "The sum is at least 1, since the largest value adds exp(0): a constant on top only makes it wrong.",
        "stable-softmax",
        tuple(_epsilon(epsilon) for epsilon in _EPSILONS),
    ),
)

FIRST_COLUMN_MISSING = Mistake(
    "end-column-missing",
    "the first column is left out of the sum",
    "The maximum starts from the first value and the loop at the second: the first one's exp(0) = 1 is lost.",
    "online-softmax",
    ways({"": lambda x: _without(x, 0, in_max=False, in_sum=True)}),
)
