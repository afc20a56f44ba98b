"""What the two kernels of a timed pair wrote: the outputs beside each other, and in part beside float64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilestep.judge.compare import Array, ComparedCase
from tilestep.judge.some_rows import rows_of
from tilestep.subjects import Case
from tilestep.subjects.protocol import Rows, TimedSubject

TIMED = "timed pair"  # begins the family of a case that was wrong in a timed call
RANDOM_ROWS = 24  # rows of each pair that float64 is computed for
APART_ROWS = 8  # more of them, where the two outputs differ by more than two right ones can
STRETCH = 128  # rows of which that where the outputs differ most is one more


class BaselineWrong(RuntimeError):  # noqa: N818
    """Our own baseline is wrong in a timed call: our fault, never the submission's."""


@dataclass(frozen=True)
class Outputs:
    """The first tensor that the seam writes, from a timed call of each side."""

    user: Array
    baseline: Array


def compare_pair(
    number: int, subject: TimedSubject, case: Case, outputs: Outputs, *, whole: bool
) -> ComparedCase | None:
    """Both outputs against float64, wholly or in part; the submission's as a case where a value is wrong.

    In part: all values are compared with each other first, each difference in units of its own bound. Two
    right outputs are each within the tolerance, so a difference above twice the bound is in a row that
    float64 looks at. Raises BaselineWrong.
    """
    rows = np.arange(len(outputs.user)) if whole else _rows(subject, case, outputs)
    answer = subject.answers_at(case, rows)
    family = f"{TIMED} {number}"
    if _wrong(rows_of(case, family, outputs.baseline, answer, rows)):
        raise BaselineWrong(f"the baseline's output of {TIMED} {number} is wrong at length {case.length}")
    compared = rows_of(case, family, outputs.user, answer, rows)
    return compared if _wrong(compared) else None


def _rows(subject: TimedSubject, case: Case, outputs: Outputs) -> Rows:
    """Random rows, which nothing that ran before could know, and the rows where the outputs differ most.

    The bound is looser in late rows than in early ones: each stretch of rows has a worst one of its own, so
    that none hides behind another.
    """
    with np.errstate(all="ignore"):
        apart = np.abs(outputs.user.astype(np.float64) - outputs.baseline)
        apart /= 2.0 * subject.tolerance_at_most(case)
    worst = np.where(np.isnan(apart), np.inf, apart).max(axis=1)
    count = len(worst)
    most = [begin + int(np.argmax(worst[begin:end])) for begin, end in _stretches(count)]
    first = np.flatnonzero(worst > 1.0)[:APART_ROWS]
    drawn = np.random.default_rng().choice(count, min(RANDOM_ROWS, count), replace=False)
    return np.unique(np.concatenate((most, first, drawn)))


def _stretches(count: int) -> list[tuple[int, int]]:
    """Rows 0, 1, 2 to 3, 4 to 7 and so on, up to STRETCH rows at a time."""
    edges = [0, *(2**power for power in range(STRETCH.bit_length())), *range(2 * STRETCH, count, STRETCH)]
    edges = [edge for edge in edges if edge < count]
    return list(zip(edges, [*edges[1:], count], strict=True))


def _wrong(case: ComparedCase) -> bool:
    return any(tensor.wrong.any() for tensor in case.tensors)
