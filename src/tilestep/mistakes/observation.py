"""What a submission returned in one case, beside what is right."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilestep.mistakes.arithmetic import Doubles, Mask, Packed

_UNWRITTEN = np.uint32(
    0xFFFFFFFF
)  # outputs are filled with these bytes before a launch: a NaN no arithmetic makes


class Observation:
    """An attention output [T, D] and its right values, bounds [T, D] and judged rows [T]."""

    def __init__(
        self,
        qkv: ArrayLike,
        got: ArrayLike,
        want: ArrayLike,
        tolerance: ArrayLike,
        judged_rows: ArrayLike | None = None,
    ) -> None:
        self.packed = Packed(qkv)
        self._raw = np.asarray(got)
        self.got: Doubles = np.asarray(got, dtype=np.float64)
        self.want: Doubles = np.asarray(want, dtype=np.float64)
        self.bound: Doubles = np.asarray(tolerance, dtype=np.float64)
        rows = (
            np.ones(self.packed.T, dtype=bool) if judged_rows is None else np.asarray(judged_rows, dtype=bool)
        )
        self.rows: NDArray[np.bool_] = rows

    @cached_property
    def wrong(self) -> Mask:
        """Judged elements [T, D] that are outside their bound."""
        with np.errstate(invalid="ignore"):
            outside = ~(np.abs(self.got - self.want) <= self.bound)
        return outside & self.rows[:, None]

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
        ratio = np.abs(self.got - self.want)[self.rows] / self.bound[self.rows]
        return float(np.where(np.isfinite(ratio), ratio, np.inf).max(initial=0.0))

    @cached_property
    def unwritten(self) -> Mask:
        """Elements [T, D] that hold the fill pattern; only a float32 output can tell it from another NaN."""
        if self._raw.dtype != np.float32:
            return np.zeros(self.got.shape, dtype=bool)
        bits: NDArray[np.uint32] = np.ascontiguousarray(self._raw).view(np.uint32)
        return np.asarray(bits == _UNWRITTEN)
