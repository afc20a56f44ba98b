"""block-max: the largest value of each row of a matrix, -infinity for a row of nothing else."""

from __future__ import annotations

from tilestep.mistakes.patterns import not_written, zeros
from tilestep.subjects.reduction import max_mistakes, mistakes
from tilestep.subjects.reduction.max_mistakes import MAX_OUTPUT
from tilestep.subjects.reduction.subject import Reduction

_STEP = "block-max"


class BlockMax(Reduction):
    """Maxima [rows, 1] of x [rows, columns]."""

    family_names = ("normal", "ends", "negative", "minus-infinity")
    mistakes = (
        not_written(_STEP),
        zeros(_STEP),
        max_mistakes.starts_at_zero(_STEP, MAX_OUTPUT),
        max_mistakes.starts_at_finite(_STEP, MAX_OUTPUT),
        *max_mistakes.of_values(_STEP, MAX_OUTPUT),
        *mistakes.of_columns(_STEP, MAX_OUTPUT),
        *mistakes.of_tree(_STEP, MAX_OUTPUT),
        mistakes.not_reset(_STEP, MAX_OUTPUT),
    )


SUBJECT = BlockMax(_STEP, MAX_OUTPUT)
