"""What the two kernels of a timed pair wrote: the outputs beside each other, and in part beside float64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilestep.judge.compare import Array, Compared, ComparedCase
from tilestep.judge.expect import Expected
from tilestep.subjects import Answer, Case
from tilestep.subjects.protocol import Rows, TimedSubject

TIMED = "timed pair"  # begins the family of a case that was wrong in a timed call
RANDOM_ROWS = 24  # rows of each pair that float64 is computed for
WORST_ROWS = 8  # more of them, where the two outputs differ most


class BaselineWrong(RuntimeError):  # noqa: N818
    """Our own baseline is wrong in a timed call: our fault, never the submission's."""


@dataclass(frozen=True)
class Outputs:
    """The first tensor that the seam writes, from a timed call of each side."""

    user: Array
    baseline: Array


def strict_case(number: int, expected: Expected, outputs: Outputs) -> ComparedCase | None:
    """Every value of both outputs against float64; the submission's as a case where one is wrong.

    Raises BaselineWrong.
    """
    return _judge(number, expected.case, outputs, expected.answers[0], np.arange(len(outputs.user)))


def loose_case(number: int, subject: TimedSubject, case: Case, outputs: Outputs) -> ComparedCase | None:
    """Random rows of both outputs, and the rows where they differ most, against float64; the submission's as
    a case where a value is wrong there.

    All values are compared with each other first, each difference in units of its own bound. Two right
    outputs are each within the tolerance, so a difference above twice the bound is in a row that float64
    looks at.
    Raises BaselineWrong.
    """
    rows = _rows(number, subject, case, outputs)
    return _judge(number, case, outputs, subject.answers_at(case, rows), rows)


def _rows(number: int, subject: TimedSubject, case: Case, outputs: Outputs) -> Rows:
    with np.errstate(all="ignore"):
        apart = np.abs(outputs.user.astype(np.float64) - outputs.baseline)
        apart /= 2.0 * subject.tolerance_at_most(case)
    worst = np.where(np.isnan(apart), np.inf, apart).max(axis=1)
    count = len(worst)
    most = np.argsort(-worst, kind="stable")[:WORST_ROWS]
    first = np.flatnonzero(worst > 1.0)[:WORST_ROWS]
    drawn = np.random.default_rng([case.seed, number]).choice(count, min(RANDOM_ROWS, count), replace=False)
    return np.unique(np.concatenate((most, first, drawn)))


def _judge(number: int, case: Case, outputs: Outputs, answer: Answer, rows: Rows) -> ComparedCase | None:
    """`answer` holds these rows only."""
    if _beside(answer, outputs.baseline[rows]).wrong.any():
        raise BaselineWrong(f"the baseline's output of {TIMED} {number} is wrong at length {case.length}")
    if not _beside(answer, outputs.user[rows]).wrong.any():
        return None
    # As a whole tensor, so that a row's number is the tensor's; the other rows are not judged.
    judged = np.zeros(len(outputs.user), dtype=bool)
    judged[rows] = True
    want, tolerance = (np.full(outputs.user.shape, np.nan) for _ in range(2))
    want[rows], tolerance[rows] = answer.want, answer.tolerance
    compared = Compared(answer.tensor, outputs.user, want, tolerance, judged)
    return ComparedCase(case.length, f"{TIMED} {number}", (compared,))


def _beside(answer: Answer, got: Array) -> Compared:
    return Compared(answer.tensor, got, answer.want, answer.tolerance, np.ones(len(got), dtype=bool))
