"""What is judged beyond the small lengths: hazards at the profile length, and a length that nobody knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilestep import kernels
from tilestep.contract import LENGTHS, PROFILE_LENGTH
from tilestep.judge import judge
from tilestep.judge.schedule import drawn_beyond
from tilestep.subjects import subject

STEP = "online-attention"
SEED = 6
MAXIMUM = "const float newMax = fmaxf(m, tileMax);"
LAUNCH = "void runCausalAttention(const float* qkv, float* attnOut, int T) {"


def changed(tmp_path: Path, old: str, new: str) -> Path:
    """Our solution with one line of it changed."""
    text = kernels.path("attention/03_online.cu").read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = tmp_path / "attention.cu"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def test_a_kernel_without_a_maximum_where_it_is_timed_is_wrong(tmp_path: Path) -> None:
    file = changed(tmp_path, MAXIMUM, "const float newMax = T > 256 ? 0.0f : fmaxf(m, tileMax);")
    verdict = judge(file, STEP, seed=SEED, lengths=(33, PROFILE_LENGTH))
    assert verdict.outcome == "wrong"
    assert (verdict.first_wrong.length, verdict.first_wrong.family) == (PROFILE_LENGTH, "spread")
    wrong = {(case.length, case.family) for case in verdict.cases if not case.ok}
    assert wrong == {(PROFILE_LENGTH, family) for family in ("spread", "planted", "negative")}


def test_a_kernel_that_does_nothing_between_the_known_lengths_is_wrong(tmp_path: Path) -> None:
    file = changed(tmp_path, LAUNCH, f"{LAUNCH}\n  if (T > {max(LENGTHS)} && T < {PROFILE_LENGTH}) return;")
    verdict = judge(file, STEP, seed=SEED)
    assert verdict.outcome == "wrong"
    assert verdict.first_wrong.length == drawn_beyond(subject(STEP), SEED)
    assert max(LENGTHS) < verdict.first_wrong.length < PROFILE_LENGTH


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_the_length_between_is_drawn_by_the_seed(seed: int) -> None:
    drawn = drawn_beyond(subject(STEP), seed)
    assert drawn is not None
    assert max(LENGTHS) < drawn < PROFILE_LENGTH
    assert drawn != drawn_beyond(subject(STEP), (seed + 1) % 2**32)
    assert drawn_beyond(subject("rmsnorm"), seed) is None
