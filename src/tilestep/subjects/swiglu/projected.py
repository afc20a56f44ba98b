"""What wrong SwiGLU kernels are put together from: the two projections, right and wrong, computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from tilestep import reference
from tilestep.contract import D, F
from tilestep.mistakes.arithmetic import Doubles, exp
from tilestep.subjects.protocol import Case

Formula = Callable[[Doubles, Doubles], Doubles]  # of gate and up


class Projected:
    """A case, its gate and up [T, F], and their wrong variations."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.x, self.w_gate, self.w_up = case["normed_2"], case["w_gate"], case["w_up"]

    def perturbed(self, relative: float, draw: int = 0) -> Projected:
        """The same with every x off by this relative amount: as telling as weights, and far fewer."""
        x = {"normed_2": self.case.inputs["normed_2"]}
        moved = replace(self.case, inputs=x).perturbed(relative, draw)
        return Projected(replace(self.case, inputs={**self.case.inputs, **moved.inputs}))

    @cached_property
    def gate(self) -> Doubles:
        return reference.project(self.x, self.w_gate)

    @cached_property
    def up(self) -> Doubles:
        return reference.project(self.x, self.w_up)

    @cached_property
    def gate_transposed(self) -> Doubles:
        """The gate where its weight is read as [D, F]: element (in, out) at in * F + out."""
        return np.asarray(self.x @ self.w_gate.reshape(D, F))

    @cached_property
    def up_transposed(self) -> Doubles:
        return np.asarray(self.x @ self.w_up.reshape(D, F))

    def over(self, begin: int, end: int) -> tuple[Doubles, Doubles]:
        """Gate and up where only the columns [begin, end) of x are summed."""
        if end - begin <= D // 2:
            return self._part(begin, end)
        # What is left out is less work than what is there.
        head, tail = self._part(0, begin), self._part(end, D)
        return self.gate - head[0] - tail[0], self.up - head[1] - tail[1]

    def _part(self, begin: int, end: int) -> tuple[Doubles, Doubles]:
        x = self.x[:, begin:end]
        return reference.project(x, self.w_gate[:, begin:end]), reference.project(x, self.w_up[:, begin:end])


def on(formula: Formula) -> Callable[[Projected], Doubles]:
    """A formula of the right gate and up."""
    return lambda given: formula(given.gate, given.up)


def sigmoid(x: Doubles) -> Doubles:
    """1 / (1 + expf(-x))."""
    return np.asarray(1.0 / (1.0 + exp(-x)))


def silu(x: Doubles) -> Doubles:
    """The right one, in float64 with fp32's range."""
    return np.asarray(x * sigmoid(x))
