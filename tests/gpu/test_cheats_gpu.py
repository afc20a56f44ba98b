"""No cheat of tests/cheats gains anything on a GPU: each gets an outcome that its record allows there."""

from __future__ import annotations

from typing import Any

import pytest
from cheats.corpus import Cheat, cheats

from tilestep.judge import judge
from tilestep.judge.speed import FEWEST
from tilestep.judge.verdict import Verdict

SEED = 6
EVERY = cheats()
RACED = [cheat for cheat in EVERY if cheat.record.get("race")]  # only timed calls show them
PATIENT = [cheat for cheat in EVERY if cheat.record.get("endless")]  # each waits for the watchdog
QUICK = [cheat for cheat in EVERY if cheat not in RACED and cheat not in PATIENT]


def assert_allowed(cheat: Cheat, verdict: Verdict | Exception) -> None:
    if isinstance(verdict, Exception):
        raise verdict
    assert verdict.outcome in cheat.outcomes("gpu"), verdict.says


@pytest.mark.parametrize("cheat", QUICK, ids=str)
def test_cheat_gets_an_outcome_of_its_record(cheat: Cheat, judged: Any) -> None:
    assert_allowed(cheat, judged(QUICK)[cheat.file])


@pytest.mark.slow
@pytest.mark.parametrize("cheat", PATIENT, ids=str)
def test_cheat_that_never_ends_is_ended(cheat: Cheat, judged: Any) -> None:
    assert_allowed(cheat, judged(PATIENT)[cheat.file])


@pytest.mark.parametrize("cheat", RACED, ids=str)
def test_cheat_on_the_clock_gets_an_outcome_of_its_record(cheat: Cheat, target: Any) -> None:
    verdict = judge(cheat.file, cheat.step, seed=SEED, lengths=(1,), target=target, pairs=FEWEST)
    assert_allowed(cheat, verdict)
