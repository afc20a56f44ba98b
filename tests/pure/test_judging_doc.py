"""docs/judging.md states the lengths and families that the steps really have."""

from __future__ import annotations

import re
from pathlib import Path

from tilestep.contract import PROFILE_LENGTH, STEP
from tilestep.judge.race import MORE_PAIRS, MOST_PAIRS, PAIRS, STRICT_PAIRS
from tilestep.judge.replay import CLOSE
from tilestep.judge.some_rows import HAZARD_ROWS
from tilestep.judge.speed import FEWEST, FULL_CLOCK, HIDDEN_MS, HIDDEN_PART, ORDER_PART
from tilestep.judge.statistics import RESAMPLES
from tilestep.judge.timed import APART_ROWS, RANDOM_ROWS, STRETCH
from tilestep.subjects import registered, subject

PAGE = Path(__file__).parents[2] / "docs/judging.md"


def fed() -> dict[str, tuple[tuple[int, ...], tuple[str, ...]]]:
    """(lengths, families) by step, out of the page's table."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        steps = re.findall(r"`([a-z-]+)`", cells[0])
        if len(cells) == 3 and steps and set(steps) <= set(registered()):
            lengths = tuple(int(n) for n in cells[1].split(","))
            families = tuple(name.strip() for name in cells[2].split(","))
            found.update(dict.fromkeys(steps, (lengths, families)))
    return found


def test_the_table_of_lengths_and_families_is_true() -> None:
    assert fed() == {step: (subject(step).lengths, subject(step).family_names) for step in registered()}


def test_the_profile_length_is_true() -> None:
    assert {subject(step).profile for step in registered()} == {None, PROFILE_LENGTH}
    assert f"profile length {PROFILE_LENGTH}" in PAGE.read_text(encoding="utf-8")


def test_the_figures_of_a_race_are_true() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for says in (
        f"{PAIRS} pairs at T = {PROFILE_LENGTH} (`--pairs` {FEWEST} to {MOST_PAIRS})",
        f"fewer than {FEWEST} pairs left, up to {MORE_PAIRS} more",
        f"of every {STRETCH} rows (fewer among the first) the one where the two differ most for their scale",
        f"up to {APART_ROWS} more where they differ by more than two right",
        f"and {RANDOM_ROWS} random ones",
        f"in {HAZARD_ROWS} rows that the seed draws",
        f"below {FULL_CLOCK:.0%} of its highest".replace("%", " %"),
        f"by more than {HIDDEN_PART:.0%} and {HIDDEN_MS} ms".replace("%", " %"),
        f"differ by more than {ORDER_PART:.0%}".replace("%", " %"),
        f"{RESAMPLES:,} resamples",
        f"the capstone's is {STEP['online-attention'].speed_gate:g}",
    ):
        assert says in page
    assert STRICT_PAIRS == 3  # "three pairs", in words
    assert CLOSE == 0.05
