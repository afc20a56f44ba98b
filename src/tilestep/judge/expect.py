"""What a case's tensors must be: float64 values and a tolerance for each, computed in this process only."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tilestep import cases, contract, reference, tolerance
from tilestep.cases import Case
from tilestep.contract import Step
from tilestep.judge.compare import Array, Bools, Compared, ComparedCase
from tilestep.program import Floats


class VoidCase(Exception):  # noqa: N818
    """A case that something which is no attention would pass: our fault, never the submission's."""


@dataclass(frozen=True)
class Expected:
    """A case with its right answer: attention_output [T, D] in float64 and the tolerance of each element."""

    case: Case
    weights: Mapping[str, Array]
    attention: Array
    attention_tolerance: Array
    block: Array
    block_tolerance: Array

    @property
    def rows(self) -> Bools:
        return self.case.judged_rows

    def attention_output(self, outputs: Mapping[str, Floats], step: Step) -> Compared:
        """The submission's attention output beside the right one."""
        name = next(p.name for p in step.seam.pointers if p.tensor == "attention_output")
        got = outputs[name]
        return Compared("attention_output", got, self.attention, self.attention_tolerance, self.rows)

    def compare(self, outputs: Mapping[str, Floats], step: Step) -> ComparedCase:
        """Every compared tensor in judging order: the seam's output, then the block's after it."""
        first = self.attention_output(outputs, step)
        with np.errstate(all="ignore"):
            tail = reference.tail(self.case.x, first.got, self.weights)
        last = Compared("block_output", tail["block_output"], self.block, self.block_tolerance, self.rows)
        return ComparedCase(self.case.length, self.case.family, (first, last))


class Expectations:
    """The cases of one step and seed with their right answers, each computed once, from any thread."""

    def __init__(self, step: Step, seed: int) -> None:
        self._step = step
        self._seed = seed
        self._known: dict[tuple[int, str], Expected] = {}
        self._weights: Mapping[str, Array] | None = None  # one set a seed, in float64
        self._lock = threading.Lock()

    def of(self, length: int, family: str) -> Expected:
        """The case of a length and family. Raises VoidCase if a wrong answer would pass it."""
        with self._lock:
            if (length, family) not in self._known:
                self._known[length, family] = self._expect(length, family)
            return self._known[length, family]

    def _expect(self, length: int, family: str) -> Expected:
        case = cases.make(self._step.name, length, family, self._seed)
        if self._weights is None:
            self._weights = {name: weight.astype(np.float64) for name, weight in case.weights.items()}
        qkv = case.inputs["qkv_rotated"]
        with np.errstate(all="ignore"):
            want = reference.attention(qkv)
            allowed = tolerance.attention(qkv, want)
            tail = reference.tail(case.x, want, self._weights)
            tail_allowed = tolerance.tail(case.x, want, self._weights, allowed)
        passing = cases.void(case, want, allowed)
        if passing:
            raise VoidCase(
                f"T = {length}, {family}, seed {self._seed}: {', '.join(passing)} would pass this case"
            )
        last = contract.TENSORS[-1].name
        return Expected(case, self._weights, want, allowed, tail[last], tail_allowed[last])
