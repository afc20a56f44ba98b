"""What the three reductions have in common as subjects: what they are fed, and what must not pass."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilestep.subjects.protocol import Answer, Array, Case, Impostor, Subject
from tilestep.subjects.reduction import bounds, matrices
from tilestep.subjects.reduction.folds import MAX, SUM
from tilestep.subjects.reduction.mistakes import Folds

# With a single column these are what `normal` is, or have nothing to plant.
_NEED_COLUMNS = ("cancelling", "ends", "minus-infinity")


class Reduction(Subject):
    """A step that folds each row of a matrix to one value; `outputs` says by which folds."""

    lengths = matrices.COLUMNS

    def __init__(self, step: str, outputs: Folds) -> None:
        self._step = step
        self._outputs = outputs

    @property
    def longest(self) -> int:
        """Rows of several thousand columns cost nothing; more would be no other test."""
        return 8192

    def families(self, length: int) -> tuple[str, ...]:
        return tuple(name for name in self.family_names if length > 1 or name not in _NEED_COLUMNS)

    def make(self, length: int, family: str, seed: int) -> Case:
        if family not in self.families(length):
            raise ValueError(f"family {family!r} is not fed at {length} columns")
        rng = np.random.default_rng([seed, length, matrices.FAMILY_NAMES.index(family)])
        matrix = matrices.draw(family, length, rng)
        rows = matrix.shape[0]
        sizes = {"rows": rows, "columns": length}
        return Case(self._step, length, family, seed, sizes, {"matrix": matrix}, np.ones(rows, dtype=bool))

    def answers(self, case: Case) -> tuple[Answer, ...]:
        x = case["matrix"]
        return tuple(_answer(tensor, x) for tensor in self._outputs)

    def impostors(self, case: Case, answers: tuple[Answer, ...]) -> Mapping[str, Impostor]:
        x = case["matrix"]
        other = self.make(case.length, case.family, case.seed + 1)
        outputs: dict[str, Array] = {
            "zeros": np.zeros((x.shape[0], 1)),
            "the rows' means": x.mean(axis=1, keepdims=True),
            "the first column": x[:, :1],
            "the last column": x[:, -1:],
        }
        every: dict[str, Impostor] = {
            name: {answer.tensor: output for answer in answers} for name, output in outputs.items()
        }
        every["another seed's answer"] = {answer.tensor: answer.want for answer in self.answers(other)}
        return every


def _answer(tensor: str, x: Array) -> Answer:
    if tensor == "sums":
        return Answer(tensor, SUM(x), bounds.of_sum(x))
    largest = MAX(x)
    return Answer(tensor, largest, bounds.of_max(largest))
