"""What a submission returned in one case, beside what is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilestep.case import Given
from tilestep.mistakes.arithmetic import Doubles, Mask
from tilestep.mistakes.named import Hypothesis
from tilestep.tolerance import UNIT

# Outputs are filled with these bytes before a launch: a NaN that no arithmetic makes.
_UNWRITTEN = np.uint32(0xFFFFFFFF)
_PERTURBATION = 32.0 * UNIT
_MANY_COLUMNS = 32
_DRAWS = 4


class Observation:
    """The tensors that a seam wrote in one case, side by side as columns [rows, width].

    `parts` holds (name, got, want, bound) for each tensor, all [rows, width]; `given` is what the hypotheses
    take, `length` the length of the case, and `group` the columns that share a scale of rounding (0: the
    whole row of a tensor).
    """

    def __init__(
        self,
        given: Given,
        parts: Sequence[tuple[str, NDArray[Any], NDArray[Any], NDArray[Any]]],
        rows: NDArray[np.bool_],
        length: int,
        group: int = 0,
    ) -> None:
        self.given = given
        self.rows = rows
        self.length = length
        self._names = [name for name, *_ in parts]
        self._widths = [got.shape[1] for _, got, *_ in parts]
        self._group = group
        self._raw = [got for _, got, *_ in parts]
        self.got: Doubles = _beside(self._raw)
        self.want: Doubles = _beside([want for _, _, want, _ in parts])
        self.bound: Doubles = _beside([bound for *_, bound in parts])

    @cached_property
    def wrong(self) -> Mask:
        """Judged elements that are outside their bound."""
        return self.outside(self.got, self.bound)

    def outside(self, output: Doubles, slack: Doubles) -> Mask:
        """Judged elements of an output that differ from the right ones by more than the slack."""
        with np.errstate(invalid="ignore"):
            near = (np.abs(output - self.want) <= slack) | (np.isinf(output) & (output == self.want))
        outside: Mask = ~near & self.rows[:, None]
        return outside

    @property
    def failed(self) -> bool:
        return bool(self.wrong.any())

    @cached_property
    def blank(self) -> bool:
        """Whether no judged element is finite: what went wrong first cannot be read from it."""
        return not bool(np.isfinite(self.got[self.rows]).any())

    @cached_property
    def ratio(self) -> float:
        """Largest error over bound among the judged elements; infinite where one is not finite."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.abs(self.got - self.want) / self.bound
        ratio[~self.outside(self.got, np.zeros_like(self.bound))] = 0.0  # equal, and what is not judged
        return float(np.where(np.isfinite(ratio), ratio, np.inf).max(initial=0.0))

    @cached_property
    def unwritten(self) -> Mask:
        """Elements that hold the fill pattern; only a float32 output can tell it from another NaN."""
        blank = []
        for raw in self._raw:
            if raw.dtype != np.float32:
                blank.append(np.zeros(raw.shape, dtype=bool))
            else:
                blank.append(np.ascontiguousarray(raw).view(np.uint32) == _UNWRITTEN)
        return np.concatenate(blank, axis=1)

    # --- what a hypothesis says of this case ----------------------------------------------------------------

    def output(self, hypothesis: Hypothesis) -> Doubles:
        """The hypothesis's output, its tensors side by side."""
        return self._columns(hypothesis, self.given)

    def moved(self, hypothesis: Hypothesis) -> list[Doubles]:
        """The same from inputs that are off by a few roundings, for each draw of their signs."""
        return [self._columns(hypothesis, given) for given in self._perturbed]

    @cached_property
    def _perturbed(self) -> list[Given]:
        """One draw moves some of the many columns of a group; a group of a few columns may stay by chance."""
        narrowest = min(self._group or width for width in self._widths)
        draws = 1 if narrowest >= _MANY_COLUMNS else _DRAWS
        return [self.given.perturbed(_PERTURBATION, draw) for draw in range(draws)]

    def _columns(self, hypothesis: Hypothesis, given: Given) -> Doubles:
        with np.errstate(all="ignore"):
            output = hypothesis.output(given)
        if not isinstance(output, Mapping):
            return self._whole(output)
        unknown = set(output) - set(self._names)
        if unknown:
            raise KeyError(
                f"a hypothesis {hypothesis.label!r} gives {unknown}, which the seam does not write"
            )
        right = np.split(self.want, np.cumsum(self._widths)[:-1], axis=1)
        return _beside([output.get(name, want) for name, want in zip(self._names, right, strict=True)])

    def _whole(self, output: NDArray[Any]) -> Doubles:
        """An output of the seam's shape; a single value stands for all."""
        if output.shape not in ((1, 1), self.got.shape):
            raise ValueError(f"a hypothesis gives {output.shape}, the seam writes {self.got.shape}")
        return np.broadcast_to(np.asarray(output, dtype=np.float64), self.got.shape)

    def largest(self, values: Doubles) -> Doubles:
        """For every element the largest of the values in its group of columns: the scale of its rounding."""
        parts = []
        for part in np.split(values, np.cumsum(self._widths)[:-1], axis=1):
            grouped = part.reshape(part.shape[0], -1, self._group or part.shape[1])
            top = grouped.max(axis=2, keepdims=True)
            parts.append(np.broadcast_to(top, grouped.shape).reshape(part.shape))
        return np.concatenate(parts, axis=1)


def _beside(arrays: Sequence[NDArray[Any]]) -> Doubles:
    doubles = [np.asarray(array, dtype=np.float64) for array in arrays]
    return doubles[0] if len(doubles) == 1 else np.concatenate(doubles, axis=1)
