"""What the judge asks of a step: cases to feed, right answers with tolerances, and mistakes that have a name.

One module a step, named after it (`block_sum` for block-sum), with its `SUBJECT`: subjects/__init__ finds it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilestep.case import Case, Given
from tilestep.mistakes.named import Mistake

__all__ = ["Answer", "Array", "Case", "Given", "Impostor", "Rows", "Subject", "TimedSubject"]

Array = NDArray[Any]
Rows = NDArray[np.intp]  # indices of rows
Impostor = Array | Mapping[str, Array]  # the first answer's tensor, or tensors by name


@dataclass(frozen=True)
class Answer:
    """What a tensor must be: float64 values and a tolerance for each, both [rows, width].

    A value passes if abs(got - want) <= tolerance; where want is an infinity, if got is the same infinity.
    A NaN passes nowhere, so an element with a NaN in want or tolerance cannot be passed.
    """

    tensor: str
    want: Array
    tolerance: Array


class Subject(ABC):
    """A step as the judge sees it. Functions of the same arguments return the same values, in any thread."""

    lengths: tuple[int, ...]  # judged at every value and family, smallest first
    family_names: tuple[str, ...]  # every family, in judging order
    mistakes: tuple[Mistake, ...] = ()  # most specific first: the order of names that explain equally well
    group: int = 0  # columns that share a scale of rounding, such as a head; 0: all columns of a tensor

    @property
    def checked_lengths(self) -> tuple[int, ...]:
        """The lengths that run under the checkers, each three times: small and few where runs are slow."""
        return self.lengths

    @property
    def profile(self) -> int | None:
        """The length that is judged last, with its K/V traffic counted; None for a step without one."""
        return None

    @property
    def longest(self) -> int:
        """The longest length that a person may ask for."""
        return self.profile or max(self.lengths)

    def families(self, length: int) -> tuple[str, ...]:
        """The families that are fed at a length, in judging order."""
        return self.family_names

    @abstractmethod
    def make(self, length: int, family: str, seed: int) -> Case:
        """The case of a length and family; the same seed makes the same case."""

    @abstractmethod
    def answers(self, case: Case) -> tuple[Answer, ...]:
        """The right tensors in judging order: first those that the seam writes, in the seam's order."""

    @abstractmethod
    def impostors(self, case: Case, answers: tuple[Answer, ...]) -> Mapping[str, Impostor]:
        """Wrong outputs by name, which need no kernel: zeros, the mean, the input, another seed's answer.

        A case that one of them passes is void, unless it is right to rounding there.
        """

    def rest(self, case: Case, outputs: Mapping[str, Array]) -> Mapping[str, Array]:
        """The answers' tensors that the seam does not write, in float64 from those that it wrote."""
        return {}

    def given(self, case: Case) -> Given:
        """What the hypotheses of the mistakes take: the case, or what is derived from it once."""
        return case


class TimedSubject(Subject):
    """A step whose kernels race a baseline: many cases of one length, cheap to make and to compare."""

    @abstractmethod
    def make_fresh(self, length: int, entropy: int, number: int) -> Case:
        """A case of the same kind as the profile length's, with values of its own for every number.

        `entropy` is of any size: too much of it for a kernel to try.
        """

    @abstractmethod
    def answers_at(self, case: Case, rows: Rows) -> Answer:
        """The first tensor that the seam writes, right to the same tolerance: these rows only."""

    @abstractmethod
    def tolerance_at_most(self, case: Case) -> Array:
        """A bound [rows, width] that is nowhere below the answer's tolerance, for a fraction of its cost."""


def void(case: Case, answers: tuple[Answer, ...], impostors: Mapping[str, Impostor]) -> list[str]:
    """The impostors that pass a case, which makes the case void.

    An impostor that equals the right output to rounding is none: with one key, the values' mean is right.
    """
    by_name = {answer.tensor: answer for answer in answers}
    passed = []
    for name, impostor in impostors.items():
        tensors = impostor if isinstance(impostor, Mapping) else {answers[0].tensor: impostor}
        if any(_passes(case, by_name[tensor], output) for tensor, output in tensors.items()):
            passed.append(name)
    return passed


def _passes(case: Case, answer: Answer, output: Array) -> bool:
    right = answer.want[case.judged_rows]
    with np.errstate(invalid="ignore"):
        error = np.abs(np.asarray(output, dtype=np.float64)[case.judged_rows] - right)
    error[output[case.judged_rows] == right] = 0.0  # infinities
    rounding = 2.0**-22 * np.abs(right)
    within = bool(np.all(error <= answer.tolerance[case.judged_rows]))
    return within and not bool(np.all(error <= rounding))
