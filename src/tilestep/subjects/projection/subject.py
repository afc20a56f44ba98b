"""qkv-projection as the judge sees it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilestep import reference
from tilestep.contract import DH
from tilestep.subjects.projection import bounds, inputs
from tilestep.subjects.projection.mistakes import MISTAKES
from tilestep.subjects.protocol import Answer, Case, Impostor, Subject

_STEP = "qkv-projection"
_LENGTHS = (1, 5, 17, 33)  # one token; fewer than a tile; one token past a tile of 16, and past one of 32
# The inner dimension makes every kernel walk many tiles, so few tokens show all that the checkers look for.
_CHECKED = (1, 5)


class Projection(Subject):
    """The packed tensor [T, QKV_OUT] from normed tokens [T, D] and weights [QKV_OUT, D]."""

    lengths = _LENGTHS
    family_names = inputs.FAMILY_NAMES
    mistakes = MISTAKES
    group = DH

    @property
    def checked_lengths(self) -> tuple[int, ...]:
        return _CHECKED

    @property
    def longest(self) -> int:
        return 256

    def families(self, length: int) -> tuple[str, ...]:
        return tuple(name for name in self.family_names if length > 1 or name != "nan-token")

    def make(self, length: int, family: str, seed: int) -> Case:
        if family not in self.families(length):
            raise ValueError(f"family {family!r} is not fed at length {length}")
        drawn = inputs.draw(family, length, seed)
        tensors = {"normed": drawn.x, "w_qkv": drawn.weight}
        return Case(_STEP, length, family, seed, {"T": length}, tensors, drawn.judged)

    def answers(self, case: Case) -> tuple[Answer, ...]:
        x, weight = case["normed"], case["w_qkv"]
        want = reference.project(x, weight)
        return (Answer("qkv", want, bounds.of_product(x, weight, want)),)

    def impostors(self, case: Case, answers: tuple[Answer, ...]) -> Mapping[str, Impostor]:
        x, want = np.nan_to_num(case["normed"]), answers[0].want
        other = np.random.default_rng(case.seed).permutation(case["w_qkv"])
        return {
            "zeros": np.zeros_like(want),
            "the tokens' means": np.repeat(x.mean(axis=1, keepdims=True), want.shape[1], axis=1),
            "the input": np.resize(x, want.shape),
            "the answer to other weights": reference.project(x, other),
        }
