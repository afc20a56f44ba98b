"""Beside the lengths that everybody knows one is drawn: what is fed cannot be known beforehand."""

from __future__ import annotations

import pytest

from tilestep.judge.schedule import drawn_length, fed_cases
from tilestep.subjects import registered, subject


@pytest.mark.parametrize("step", registered())
def test_the_seed_draws_a_length_that_is_not_listed(step: str) -> None:
    asked = subject(step)
    drawn = {drawn_length(asked, seed) for seed in range(5000)}
    assert drawn == set(range(min(drawn), max(asked.lengths))) - set(asked.lengths)
    assert min(drawn) >= 2
    assert all(fed_cases(asked, [length]) for length in drawn)


def test_the_same_seed_draws_the_same_length() -> None:
    asked = subject("block-sum")
    assert drawn_length(asked, 7) == drawn_length(asked, 7)
    assert len({drawn_length(asked, seed) for seed in range(100)}) > 50
