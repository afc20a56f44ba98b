"""Some rows of an output beside float64, where the whole would take longer than the run."""

from __future__ import annotations

import numpy as np

from tilestep.judge.compare import Array, Compared, ComparedCase
from tilestep.subjects import Answer, Case
from tilestep.subjects.protocol import Rows, TimedSubject

HAZARD_ROWS = 64  # drawn by the seed, of a family that is fed at a long length
_KEPT = (0, 1, 2, 31, 32, 33, 40, 41)  # where the hazards are planted, and the first edge of a tile
_NOT_FINITE = 4  # rows more, where what should be a number is none


def hazard_rows(case: Case, output: Array) -> Rows:
    """The rows of a long case that are compared: those of its hazards, the last ones, and drawn ones."""
    judged = np.flatnonzero(case.judged_rows)
    rng = np.random.default_rng([case.seed, case.length])
    drawn = rng.choice(judged, min(HAZARD_ROWS, len(judged)), replace=False)
    kept = [row for row in (*_KEPT, *judged[-2:]) if row < len(judged)]
    broken = judged[~np.isfinite(output[judged]).all(axis=1)][:_NOT_FINITE]
    return np.unique(np.concatenate((drawn, kept, broken)).astype(np.int64))


def compare_rows(subject: TimedSubject, case: Case, family: str, output: Array, rows: Rows) -> ComparedCase:
    """These rows of the first tensor that the seam writes, as a case under the name `family`."""
    return rows_of(case, family, output, subject.answers_at(case, rows), rows)


def rows_of(case: Case, family: str, output: Array, answer: Answer, rows: Rows) -> ComparedCase:
    """The same with their answer, which holds these rows only.

    It is a case of the whole tensor, so that a row's number is the tensor's; the other rows are not judged.
    """
    judged = np.zeros(len(output), dtype=bool)
    judged[rows] = True
    want, tolerance = (np.full(output.shape, np.nan) for _ in range(2))
    want[rows], tolerance[rows] = answer.want, answer.tolerance
    compared = Compared(answer.tensor, output, want, tolerance, judged)
    return ComparedCase(case.length, family, (compared,))
