"""Where an output is wrong: its error over its tolerance, value by value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilestep import contract
from tilestep.contract import DH
from tilestep.inspect.session import CannotLook, Session
from tilestep.judge.compare import Compared
from tilestep.judge.verdict import FirstWrong

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class ErrorMap:
    """One tensor of one case: error / tolerance [rows, width], NaN where the error is; above 1 is wrong.

    `judged` [rows] marks the rows that count. `group` columns belong together: a head, or 1.
    """

    tensor: str
    says: str
    ratio: Doubles
    wrong: NDArray[np.bool_]
    judged: NDArray[np.bool_]
    group: int
    first: tuple[int, int] | None  # row and column of the first wrong value

    def by_cell(self, rows: int, columns: int) -> Doubles:
        """The worst ratio of each cell of `rows` x `columns` values; NaN is worst, -1 is not judged."""
        lines = math.ceil(self.ratio.shape[0] / rows)
        cells = math.ceil(self.ratio.shape[1] / columns)
        padded = np.full((lines * rows, cells * columns), -1.0)
        ranked = np.where(np.isnan(self.ratio), np.inf, self.ratio)
        ranked[~self.judged] = -1.0
        padded[: ranked.shape[0], : ranked.shape[1]] = ranked
        worst: Doubles = padded.reshape(lines, rows, cells, columns).max(axis=(1, 3))
        return worst


@dataclass(frozen=True)
class Errors:
    """What `show errors` shows: the maps of one case, in judging order, and its first wrong value."""

    file: str
    step: str
    length_name: str
    length: int
    family: str
    seed: int
    maps: tuple[ErrorMap, ...]
    first: FirstWrong | None

    def to_json(self) -> dict[str, Any]:
        """One document for programs; by head where a tensor has heads, by row for all."""
        return {
            "file": self.file,
            "step": self.step,
            "length": self.length,
            "family": self.family,
            "seed": self.seed,
            "first_wrong": None
            if self.first is None
            else {
                "tensor": self.first.tensor,
                "row": self.first.row,
                "head": self.first.head,
                "dim": self.first.dim,
            },
            "tensors": [
                {
                    "tensor": one.tensor,
                    "rows": one.ratio.shape[0],
                    "width": one.ratio.shape[1],
                    "columns_per_cell": max(one.group, 1),
                    "wrong_values": int(one.wrong.sum()),
                    "wrong_rows": [int(row) for row in np.flatnonzero(one.wrong.any(axis=1))],
                    "wrong_by_cell": _counts(one),
                }
                for one in self.maps
            ],
        }


def _counts(one: ErrorMap) -> list[list[int]]:
    """Wrong values [rows, heads], or [rows, 1] for a tensor without heads."""
    group = one.group if one.group > 1 else one.ratio.shape[1]
    return [[int(n) for n in row] for row in one.wrong.reshape(len(one.wrong), -1, group).sum(axis=2)]


def look_at_errors(session: Session, length: int | None, family: str | None) -> Errors:
    """The errors of one case: the one that is asked for, or the first that is wrong, or the last of all.

    Raises CannotLook for a length or family that the step has not, and for a run that does not finish.
    """
    subject = session.subject
    lengths = subject.lengths if length is None else (length,)
    asked = [
        (n, name)
        for n in lengths
        for name in ((family,) if family else subject.families(n))
        if length is not None or name in subject.families(n)
    ]
    if not asked:
        raise CannotLook(f"no family {family!r} is fed to {session.step.name}")
    found = None
    for n, name in asked:
        found = _errors(session, n, name)
        if found.first is not None:
            break
    assert found is not None  # noqa: S101  (asked is not empty)
    return found


def _errors(session: Session, length: int, family: str) -> Errors:
    expected = session.expected(length, family)
    run = session.values(expected.case)
    compared = expected.compare(run.outputs, session.step)
    written = {parameter.tensor for parameter in session.step.seam.outputs}
    return Errors(
        file=session.program.file,
        step=session.step.name,
        length_name=session.step.length_name,
        length=length,
        family=family,
        seed=session.seed,
        maps=tuple(_map(one) for one in compared.tensors if one.tensor in written),
        first=compared.first_wrong(),
    )


def _map(one: Compared) -> ErrorMap:
    tensor = contract.TENSOR[one.tensor]
    wrong = one.wrong
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.abs(one.got.astype(np.float64) - one.want)
        error[np.isinf(one.want) & (one.got == one.want)] = 0.0
        ratio = np.where(error == 0.0, 0.0, error / one.tolerance)
    first = None
    if wrong.any():
        row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        first = (int(row), int(column))
    group = DH if tensor.heads else 1
    return ErrorMap(one.tensor, tensor.says, ratio, wrong, one.rows, group, first)
