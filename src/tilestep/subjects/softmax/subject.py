"""The subject of the three softmax steps: they differ in lengths, rows and mistakes only."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilestep import reference
from tilestep.case import Case
from tilestep.mistakes import patterns
from tilestep.mistakes.named import Mistake
from tilestep.subjects.protocol import Answer, Array, Subject
from tilestep.subjects.softmax import bounds, inputs

_MATRIX, _PROBABILITIES = "matrix", "probabilities"

# Narrower than a warp, around it, around one stride of 128, between strides, longer than any block.
LENGTHS = (1, 2, 31, 32, 33, 97, 128, 300, 1100)
_MANY_ROWS, _SOME_ROWS, _FEW_ROWS = 301, 19, 7  # none a multiple of anything
_SHORT, _LONG = 2, 64  # columns up to which rows are many, from which they are few


class Softmax(Subject):
    """Rows of values in, rows of probabilities out. A length is a number of columns.

    `many_rows` is for steps in which a thread owns a row: two columns then come in more rows than a block of
    256 has threads.
    """

    lengths = LENGTHS
    family_names = inputs.FAMILIES

    def __init__(self, step: str, mistakes: tuple[Mistake, ...], *, many_rows: bool = False) -> None:
        self._step = step
        self._many_rows = many_rows
        self.mistakes = (
            patterns.not_written(step),
            patterns.zeros(step),
            *mistakes,
            patterns.low_precision(step, bounds.TIGHTEST),
        )

    def families(self, length: int) -> tuple[str, ...]:
        return inputs.families(length)

    def rows(self, columns: int) -> int:
        """How many rows a number of columns comes with."""
        if columns == _SHORT and self._many_rows:
            return _MANY_ROWS
        return _FEW_ROWS if columns >= _LONG else _SOME_ROWS

    def make(self, length: int, family: str, seed: int) -> Case:
        rows = self.rows(length)
        values = inputs.make(rows, length, family, seed)
        judged = np.ones(rows, dtype=bool)
        sizes = {"rows": rows, "columns": length}
        return Case(self._step, length, family, seed, sizes, {_MATRIX: values}, judged)

    def answers(self, case: Case) -> tuple[Answer, ...]:
        x = case[_MATRIX]
        want = reference.softmax(x)
        return (Answer(_PROBABILITIES, want, bounds.softmax(x, want)),)

    def impostors(self, case: Case, answers: tuple[Answer, ...]) -> Mapping[str, Array]:
        x = case[_MATRIX]
        other = self.make(case.length, case.family, case.seed + 1)
        top = x == x.max(axis=1, keepdims=True)
        return {
            "zeros": np.zeros_like(x),
            "the mean probability": np.full_like(x, 1.0 / case.length),
            "the values": x,
            "the previous output": reference.softmax(other[_MATRIX]),
            "1 at the maximum": top.astype(np.float64),
        }
