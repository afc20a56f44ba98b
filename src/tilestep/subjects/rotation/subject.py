"""rope as the judge sees it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilestep import reference
from tilestep.contract import DH
from tilestep.subjects.protocol import Answer, Case, Impostor, Subject
from tilestep.subjects.rotation import bounds, inputs
from tilestep.subjects.rotation.mistakes import MISTAKES

_STEP = "rope"
# One token, which position 0 leaves alone; around a warp; two and four warps with one token more.
_LENGTHS = (1, 2, 7, 33, 64, 129)


class Rotation(Subject):
    """Q and K of the packed tensor [T, QKV_OUT] turned in place by the tables [T, DH / 2]."""

    lengths = _LENGTHS
    family_names = inputs.FAMILY_NAMES
    mistakes = MISTAKES
    group = DH

    @property
    def longest(self) -> int:
        return 2048

    def make(self, length: int, family: str, seed: int) -> Case:
        if family not in self.families(length):
            raise ValueError(f"family {family!r} is not fed at length {length}")
        drawn = inputs.draw(family, length, seed)
        tensors = {"qkv": drawn.qkv, "rope_cos": drawn.cos, "rope_sin": drawn.sin}
        for array in tensors.values():
            array.setflags(write=False)
        return Case(_STEP, length, family, seed, {"T": length}, tensors, np.ones(length, dtype=bool))

    def answers(self, case: Case) -> tuple[Answer, ...]:
        qkv, cos, sin = case["qkv"], case["rope_cos"], case["rope_sin"]
        return (Answer("qkv_rotated", reference.rope(qkv, cos, sin), bounds.of_rotation(qkv, cos, sin)),)

    def impostors(self, case: Case, answers: tuple[Answer, ...]) -> Mapping[str, Impostor]:
        qkv = case["qkv"]
        other = self.make(case.length, case.family, case.seed + 1)
        finite = np.where(np.isfinite(qkv), qkv, 0.0)
        return {
            "zeros": np.zeros_like(qkv),
            "the input": qkv,
            "the tokens' means": np.repeat(finite.mean(axis=1, keepdims=True), qkv.shape[1], axis=1),
            "another seed's answer": self.answers(other)[0].want,
        }
