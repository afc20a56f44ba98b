"""Attention as the judge sees it: its own output first, then the whole block behind it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilestep import contract, reference, tolerance
from tilestep.mistakes.arithmetic import Packed
from tilestep.mistakes.attention import MISTAKES
from tilestep.subjects.attention import cases
from tilestep.subjects.attention.cases import AttentionCase
from tilestep.subjects.attention.fresh import make_fresh
from tilestep.subjects.protocol import Answer, Array, Case, Impostor, Rows, TimedSubject
from tilestep.subjects.weights import weights_in_double


class AttentionSubject(TimedSubject):
    """One of the two attention steps, by its name."""

    lengths = contract.LENGTHS
    family_names = cases.FAMILIES
    mistakes = MISTAKES
    group = contract.DH

    def __init__(self, step: str) -> None:
        self._step = step

    @property
    def profile(self) -> int:
        return contract.PROFILE_LENGTH

    def families(self, length: int) -> tuple[str, ...]:
        return cases.families(self._step, length)

    def make(self, length: int, family: str, seed: int) -> AttentionCase:
        return cases.make(self._step, length, family, seed)

    def answers(self, case: Case) -> tuple[Answer, ...]:
        qkv, x, weights = case.inputs["qkv_rotated"], case.context["x"], weights_in_double(case.seed)
        with np.errstate(all="ignore"):
            want = reference.attention(qkv)
            allowed = tolerance.attention(qkv, want)
            tail = reference.tail(x, want, weights)
            tail_allowed = tolerance.tail(x, want, weights, allowed, tail)
        last = contract.BLOCK_TENSORS[-1].name
        return Answer("attention_output", want, allowed), Answer(last, tail[last], tail_allowed[last])

    def impostors(self, case: Case, answers: tuple[Answer, ...]) -> Mapping[str, Impostor]:
        if not isinstance(case, AttentionCase):
            raise TypeError("this case is not attention's")
        return cases.impostors(case)

    def rest(self, case: Case, outputs: Mapping[str, Array]) -> Mapping[str, Array]:
        with np.errstate(all="ignore"):
            tail = reference.tail(
                case.context["x"], outputs["attention_output"], weights_in_double(case.seed)
            )
        last = contract.BLOCK_TENSORS[-1].name
        return {last: tail[last]}

    def given(self, case: Case) -> Packed:
        return Packed(case.inputs["qkv_rotated"])

    def make_fresh(self, length: int, entropy: int, number: int) -> Case:
        return make_fresh(self._step, length, entropy, number)

    def answers_at(self, case: Case, rows: Rows) -> Answer:
        qkv = case.inputs["qkv_rotated"]
        want = reference.attention_rows(qkv, rows)
        return Answer("attention_output", want, tolerance.attention_rows(qkv, want, rows))

    def tolerance_at_most(self, case: Case) -> Array:
        return tolerance.attention_at_most(case.inputs["qkv_rotated"])
