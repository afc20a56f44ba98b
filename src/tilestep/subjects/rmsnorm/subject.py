"""RMSNorm as the judge sees it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilestep import reference
from tilestep.mistakes import patterns
from tilestep.subjects.protocol import Answer, Array, Case, Subject
from tilestep.subjects.rmsnorm import bounds, inputs
from tilestep.subjects.rmsnorm.formula_mistakes import FORMULA
from tilestep.subjects.rmsnorm.sum_mistakes import SUM_OF_SQUARES

_STEP = "rmsnorm"


class RmsNorm(Subject):
    """normed [T, D] of x [T, D] and a weight [D]. A length is a number of rows; all are D wide."""

    # One row; two; no multiple of any number of rows a block may hold; one more than a warp, than two warps.
    lengths = (1, 2, 7, 33, 65)
    family_names = inputs.FAMILIES
    mistakes = (
        patterns.not_written(_STEP),
        patterns.zeros(_STEP),
        *FORMULA,
        *SUM_OF_SQUARES,
        patterns.low_precision(_STEP, bounds.RELATIVE),
    )

    @property
    def checked_lengths(self) -> tuple[int, ...]:
        return (1, 2, 7, 33)

    @property
    def longest(self) -> int:
        return 1024

    def make(self, length: int, family: str, seed: int) -> Case:
        x, weight = inputs.make(length, family, seed)
        judged = np.ones(length, dtype=bool)
        return Case(_STEP, length, family, seed, {"T": length}, {"x": x, "norm_weight": weight}, judged)

    def answers(self, case: Case) -> tuple[Answer, ...]:
        want = reference.rms_norm(case["x"], case["norm_weight"])
        return (Answer("normed", want, bounds.rms_norm(want)),)

    def impostors(self, case: Case, answers: tuple[Answer, ...]) -> Mapping[str, Array]:
        x, weight = case["x"], case["norm_weight"]
        other = self.make(case.length, case.family, case.seed + 1)
        return {
            "zeros": np.zeros_like(x),
            "the rows' means": np.repeat(x.mean(axis=1, keepdims=True), x.shape[1], axis=1),
            "x": x,
            "the weight": np.repeat(weight, x.shape[0], axis=0),
            "the previous output": reference.rms_norm(other["x"], other["norm_weight"]),
        }
