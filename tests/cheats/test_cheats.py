"""No cheat of this folder gains anything on the CPU: each gets an outcome that its record allows."""

from __future__ import annotations

import functools
import re

import pytest
from cheats.corpus import HERE, KNOWN, Cheat, cheats
from cheats.listing import listing

from tilestep.judge import gathered, judge
from tilestep.judge.expect import Expectations
from tilestep.judge.verdict import Verdict

SEED = 6  # fixed, so that what is right is computed once a process
CAUGHT = {"refused", "broken", "wrong", "unsafe"}
OUTCOMES = CAUGHT | {"passed", "slow", "inconclusive"}
EVERY = cheats()

_expectations = functools.cache(Expectations)


@pytest.fixture(autouse=True)
def _known_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathered, "Expectations", _expectations)


def verdict_on(cheat: Cheat) -> Verdict:
    return judge(cheat.file, cheat.step, seed=SEED, lengths=cheat.lengths, profile=False, fail_fast=True)


@pytest.mark.parametrize("cheat", EVERY, ids=str)
def test_cheat_gets_an_outcome_of_its_record(cheat: Cheat) -> None:
    verdict = verdict_on(cheat)
    assert verdict.outcome in cheat.outcomes("cpu"), verdict.says
    assert cheat.record["cpu"]["says"] in verdict.says
    assert "speed" not in verdict.to_json() or verdict.to_json()["speed"] is None


@pytest.mark.parametrize("cheat", EVERY, ids=str)
def test_a_record_is_whole(cheat: Cheat) -> None:
    assert all(1 <= number <= KNOWN for number in cheat.record["number"])
    assert cheat.file.read_text(encoding="utf-8").startswith(f"// Cheat: {cheat.record['cheat']}\n")
    assert re.fullmatch(r"\d{2,3}-[a-z0-9-]+", cheat.file.stem)
    for target in ("cpu", "gpu"):
        assert cheat.outcomes(target)
        assert cheat.outcomes(target) <= OUTCOMES
    assert cheat.outcomes("cpu") <= CAUGHT or cheat.record.get("honest"), "what passes must say why it may"


def test_most_of_the_known_ways_are_here() -> None:
    known = {number for cheat in EVERY for number in cheat.record["number"]}
    caught = [cheat for cheat in EVERY if cheat.outcomes("cpu") <= CAUGHT]
    assert len(known) >= 40
    assert len(caught) >= 75


def test_the_table_of_the_readme_is_the_records() -> None:
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    begin, end = readme.index("<!-- table -->\n"), readme.index("<!-- end of the table -->")
    assert readme[begin + len("<!-- table -->\n") : end] == listing(EVERY)
