"""Compares a run's tensors with float64, element by element, each against its own tolerance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilestep import contract
from tilestep.judge.verdict import CaseResult, FirstWrong, TensorResult

Array = NDArray[Any]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Compared:
    """One tensor of one case, beside what was wanted. `rows` marks the rows that are judged."""

    tensor: str
    got: Array
    want: Array
    tolerance: Array
    rows: Bools

    @property
    def wrong(self) -> Bools:
        """Where the output is wrong: NaN is, and so is a comparison with NaN."""
        with np.errstate(invalid="ignore"):
            bad: Bools = ~(self._error() <= self.tolerance)
        bad &= self.rows[:, None]
        return bad

    def result(self) -> TensorResult:
        """The largest error over tolerance among the judged rows, with the error and the tolerance there."""
        with np.errstate(invalid="ignore", divide="ignore"):
            error = self._error()
            ratio = np.where(error == 0.0, 0.0, error / self.tolerance)
        judged = np.broadcast_to(self.rows[:, None], ratio.shape)
        ok = not bool(self.wrong.any())
        if not judged.any():
            return TensorResult(0.0, 1.0, ok)
        # NaN ranks above every number: it is the worst error there is.
        ranked = np.where(judged, np.where(np.isnan(ratio), np.inf, ratio), -1.0)
        nan = np.isnan(ratio) & judged
        worst = np.unravel_index(int(np.argmax(nan if nan.any() else ranked)), ratio.shape)
        return TensorResult(float(error[worst]), float(self.tolerance[worst]), ok)

    def _error(self) -> Array:
        """|got - want|; an infinity that is wanted is no error."""
        error: Array = np.abs(self.got.astype(np.float64) - self.want)
        error[np.isinf(self.want) & (self.got == self.want)] = 0.0
        return error


@dataclass(frozen=True)
class ComparedCase:
    """All compared tensors of one case, in judging order."""

    length: int
    family: str
    tensors: tuple[Compared, ...]

    def result(self) -> CaseResult:
        return CaseResult(self.length, self.family, {t.tensor: t.result() for t in self.tensors})

    def first_wrong(self) -> FirstWrong | None:
        """The first wrong value, by row, then column, of the earliest wrong tensor of this case."""
        for tensor in self.tensors:
            wrong = tensor.wrong
            if not wrong.any():
                continue
            row, column = (int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
            position = contract.TENSOR[tensor.tensor].position(column)
            return FirstWrong(
                tensor=tensor.tensor,
                length=self.length,
                family=self.family,
                row=row,
                head=position.head,
                dim=position.dim,
                region=position.region,
                axis=position.axis,
                got=float(tensor.got[row, column]),
                want=float(tensor.want[row, column]),
                wrong_values=int(wrong.sum()),
                values=int(tensor.rows.sum()) * wrong.shape[1],
            )
        return None


def earliest_wrong(cases: Iterable[ComparedCase]) -> FirstWrong | None:
    """Over all cases: the earliest wrong tensor of the block, at the first case that shows it."""
    order = [tensor.name for tensor in contract.TENSORS]
    found = [first for case in cases if (first := case.first_wrong()) is not None]
    return min(found, key=lambda first: order.index(first.tensor), default=None)
