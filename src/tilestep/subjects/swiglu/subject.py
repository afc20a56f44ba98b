"""SwiGLU as the judge sees it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilestep import reference
from tilestep.mistakes import patterns
from tilestep.subjects.protocol import Answer, Array, Case, Subject
from tilestep.subjects.swiglu import bounds, inputs
from tilestep.subjects.swiglu.activation_mistakes import ACTIVATION
from tilestep.subjects.swiglu.projected import Projected
from tilestep.subjects.swiglu.projection_mistakes import PROJECTION
from tilestep.subjects.weights import seeded_weights
from tilestep.tolerance import UNIT

_STEP = "swiglu"


class SwiGlu(Subject):
    """activated [T, F] of x [T, D] and two weights [F, D]. A length is a number of rows."""

    # One row; two; one more than a tile of 16; one more than one of 32. A row costs 1.4 million products, so
    # that the longest length comes in the first family only.
    lengths = (1, 2, 17, 33)
    family_names = inputs.FAMILIES
    mistakes = (
        patterns.not_written(_STEP),
        patterns.zeros(_STEP),
        *ACTIVATION,
        *PROJECTION,
        patterns.low_precision(_STEP, bounds.VALUE * UNIT),
    )

    @property
    def checked_lengths(self) -> tuple[int, ...]:
        return (1, 2)

    @property
    def longest(self) -> int:
        return 128

    def families(self, length: int) -> tuple[str, ...]:
        return self.family_names if length < max(self.lengths) else self.family_names[:1]

    def make(self, length: int, family: str, seed: int) -> Case:
        weights = seeded_weights(seed)
        given = {
            "normed_2": inputs.make(length, family, seed),
            "w_gate": weights["w_gate"],
            "w_up": weights["w_up"],
        }
        return Case(_STEP, length, family, seed, {"T": length}, given, np.ones(length, dtype=bool))

    def answers(self, case: Case) -> tuple[Answer, ...]:
        x, w_gate, w_up = case["normed_2"], case["w_gate"], case["w_up"]
        gate, up = reference.project(x, w_gate), reference.project(x, w_up)
        want = reference.silu(gate) * up
        return (Answer("activated", want, bounds.swiglu(x, w_gate, w_up, gate, up)),)

    def impostors(self, case: Case, answers: tuple[Answer, ...]) -> Mapping[str, Array]:
        x, want = case["normed_2"], answers[0].want
        other = self.answers(self.make(case.length, case.family, case.seed + 1))
        return {
            "zeros": np.zeros_like(want),
            "the rows' means": np.repeat(want.mean(axis=1, keepdims=True), want.shape[1], axis=1),
            "x": np.resize(x, want.shape),
            "the previous output": other[0].want,
        }

    def given(self, case: Case) -> Projected:
        return Projected(case)
