"""docs/judging.md states the lengths and families that the steps really have."""

from __future__ import annotations

import re
from pathlib import Path

from tilestep.contract import PROFILE_LENGTH
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
