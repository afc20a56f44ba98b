"""block-sum: the sum of each row of a matrix."""

from __future__ import annotations

from tilestep.mistakes.patterns import not_written, zeros
from tilestep.subjects.reduction import mistakes, sum_mistakes
from tilestep.subjects.reduction.subject import Reduction
from tilestep.subjects.reduction.sum_mistakes import SUM_OUTPUT

_STEP = "block-sum"


class BlockSum(Reduction):
    """Sums [rows, 1] of x [rows, columns]."""

    family_names = ("normal", "positive", "cancelling")
    mistakes = (
        not_written(_STEP),
        zeros(_STEP),
        *mistakes.of_columns(_STEP, SUM_OUTPUT),
        *mistakes.of_tree(_STEP, SUM_OUTPUT),
        mistakes.not_reset(_STEP, SUM_OUTPUT),
        *sum_mistakes.of_values(_STEP, SUM_OUTPUT),
        sum_mistakes.low_precision_sum(_STEP),
    )


SUBJECT = BlockSum(_STEP, SUM_OUTPUT)
