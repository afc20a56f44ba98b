"""The interval of a median: what it covers, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilestep.judge.statistics import median_interval

finite = st.floats(0.01, 100.0)


def test_the_interval_covers_the_true_median_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    hits, trials = 0, 400
    for seed in range(trials):
        sample = 2.0 + 0.05 * rng.standard_normal(40)
        found = median_interval(sample.tolist(), seed)
        hits += found.low <= 2.0 <= found.high
    assert 0.91 <= hits / trials <= 0.99


def test_it_holds_for_times_with_a_long_tail() -> None:
    rng = np.random.default_rng(6)
    true = math.exp(0.5)
    hits = 0
    for seed in range(300):
        found = median_interval(rng.lognormal(0.5, 0.4, 40).tolist(), seed)
        hits += found.low <= true <= found.high
    assert hits / 300 >= 0.9


@settings(deadline=None, max_examples=60)
@given(st.lists(finite, min_size=1, max_size=60), st.integers(0, 2**32 - 1))
def test_the_ends_are_around_the_median_and_inside_the_values(values: list[float], seed: int) -> None:
    found = median_interval(values, seed)
    assert min(values) <= found.low <= found.high <= max(values)
    assert found.median == float(np.median(values))
    assert found == median_interval(values, seed)


@settings(deadline=None, max_examples=40)
@given(st.lists(finite, min_size=5, max_size=40), st.floats(1.01, 10.0), st.integers(0, 1000))
def test_faster_pairs_never_lower_the_interval(values: list[float], times: float, seed: int) -> None:
    slow, fast = median_interval(values, seed), median_interval([v * times for v in values], seed)
    assert fast.low >= slow.low
    assert fast.high >= slow.high
    assert fast.median == pytest.approx(slow.median * times)


def test_more_values_make_it_narrower() -> None:
    rng = np.random.default_rng(7)
    few, many = rng.normal(3, 0.1, 30).tolist(), rng.normal(3, 0.1, 3000).tolist()
    narrow, wide = median_interval(many, 1), median_interval(few, 1)
    assert narrow.high - narrow.low < (wide.high - wide.low) / 3


def test_equal_values_and_one_value_are_certain() -> None:
    for values in ([1.5], [1.5] * 40):
        found = median_interval(values, 0)
        assert (found.median, found.low, found.high) == (1.5, 1.5, 1.5)


def test_one_wild_value_does_not_move_it() -> None:
    calm = [2.0 + 0.001 * i for i in range(40)]
    wild = [*calm[:-1], 1e6]
    assert median_interval(wild, 3).high < 2.05


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf], [1.0, -math.inf]])
def test_what_is_no_time_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"at least one|finite"):
        median_interval(values, 0)
