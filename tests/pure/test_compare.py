"""Comparing tensors: NaN is wrong, the first wrong value and the worst ratio are found."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tilestep.judge.compare import Compared, ComparedCase, earliest_wrong

ROWS, WIDTH = 4, 512


def compared(got: np.ndarray, tensor: str = "attention_output", rows: np.ndarray | None = None) -> Compared:
    want = np.zeros((ROWS, WIDTH))
    judged = np.ones(ROWS, dtype=bool) if rows is None else rows
    return Compared(tensor, got.astype(np.float32), want, np.full((ROWS, WIDTH), 1e-3), judged)


def zeros() -> np.ndarray:
    return np.zeros((ROWS, WIDTH))


def test_a_right_output_is_right() -> None:
    result = compared(zeros() + 0.5e-3).result()
    assert result.ok
    assert result.ratio == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1.1e-3, -1.1e-3])
def test_one_wrong_value_is_wrong_and_the_worst(value: float) -> None:
    got = zeros()
    got[0, 0] = 0.9e-3
    got[2, 70] = value
    case = ComparedCase(4, "normal", (compared(got),))
    result = case.result().tensors["attention_output"]
    assert not result.ok
    assert not result.ratio <= 1
    first = case.first_wrong()
    assert first is not None
    assert (first.row, first.head, first.dim) == (2, 1, 6)
    assert (first.wrong_values, first.values) == (1, ROWS * WIDTH)


def test_a_nan_reference_cannot_pass() -> None:
    wanted = Compared(
        "attention_output", zeros().astype(np.float32), zeros() + math.nan, zeros() + 1, np.ones(ROWS, bool)
    )
    assert wanted.wrong.all()
    assert not wanted.result().ok


def test_rows_that_are_not_judged_do_not_count() -> None:
    got = zeros()
    got[3] = math.nan
    rows = np.array([True, True, True, False])
    result = compared(got, rows=rows).result()
    assert result.ok
    assert result.max_error == 0.0


def test_the_ratio_is_worst_where_the_tolerance_is_small() -> None:
    one = compared(zeros())
    one.got[1, 1] = 0.9e-3
    one.got[2, 2] = 0.5e-3
    one.tolerance[2, 2] = 1e-4
    result = one.result()
    assert (result.max_error, result.tolerance) == (pytest.approx(0.5e-3), 1e-4)
    assert not result.ok


def test_the_earliest_tensor_is_named_even_if_a_later_case_shows_it() -> None:
    bad = zeros()
    bad[1, 3] = 1.0
    late = ComparedCase(1, "normal", (compared(zeros()), compared(bad, "block_output")))
    early = ComparedCase(33, "spread", (compared(bad), compared(bad, "block_output")))
    first = earliest_wrong([late, early])
    assert first is not None
    assert (first.tensor, first.length) == ("attention_output", 33)
    only_late = earliest_wrong([late])
    assert only_late is not None
    assert (only_late.tensor, only_late.head, only_late.dim) == ("block_output", None, 3)
    assert earliest_wrong([]) is None
