"""warp-reductions: sum and largest value of each row of a matrix, a warp a row."""

from __future__ import annotations

from tilestep.mistakes import Mistake, Output, one
from tilestep.mistakes.patterns import not_written, zeros
from tilestep.subjects.protocol import Case
from tilestep.subjects.reduction import max_mistakes, mistakes
from tilestep.subjects.reduction.folds import MAX, SUM
from tilestep.subjects.reduction.max_mistakes import MAX_OUTPUT
from tilestep.subjects.reduction.subject import Reduction
from tilestep.subjects.reduction.sum_mistakes import SUM_OUTPUT

_STEP = "warp-reductions"
_BOTH = {**SUM_OUTPUT, **MAX_OUTPUT}


def _swapped(case: Case) -> Output:
    return {"sums": MAX(case["matrix"]), "maxima": SUM(case["matrix"])}


_SWAPPED = Mistake(
    "outputs-swapped",
    "the two outputs are swapped",
    "The sums stand in maxima, and the maxima in sums.",
    _STEP,
    one(_swapped),
)


class WarpReductions(Reduction):
    """Sums and maxima, both [rows, 1], of x [rows, columns]."""

    family_names = ("normal", "ends", "negative")
    mistakes = (
        not_written(_STEP),
        zeros(_STEP),
        _SWAPPED,
        max_mistakes.starts_at_zero(_STEP, MAX_OUTPUT),
        *mistakes.of_warp(_STEP, _BOTH),
        *mistakes.of_columns(_STEP, _BOTH),
        mistakes.not_reset(_STEP, _BOTH),
    )


SUBJECT = WarpReductions(_STEP, _BOTH)
