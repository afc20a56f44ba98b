"""Every number in the lessons of stages 9 and 10 is the contract's, is fed by the subject, or is computed."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from tilestep import reference
from tilestep.contract import DH, HKV, HQ, KV, QKV_OUT, ROPE_THETA, STEP, D
from tilestep.subjects import subject
from tilestep.subjects.rotation.turns import PAIRS, RIGHT

STEPS = ("qkv-projection", "rope")


def lesson(step: str) -> str:
    """The lesson's text with single spaces."""
    folder = f"{STEP[step].number:02d}-{step}"
    text = files("tilestep").joinpath("path", "lessons", folder, "lesson.md").read_text(encoding="utf-8")
    return " ".join(text.split())


@pytest.mark.parametrize("step", STEPS)
def test_the_seam_is_the_contracts(step: str) -> None:
    assert f"{STEP[step].seam.prototype};" in lesson(step)
    assert lesson(step).startswith(f"# {STEP[step].number}. ")


def test_the_projections_sizes_are_the_contracts() -> None:
    text = lesson("qkv-projection")
    assert STEP["qkv-projection"].launches == 1
    assert "**Exactly one launch.**" in text
    assert f"wQkv [{QKV_OUT}, {D}]" in text
    assert f"{D} rows make Q" in text
    assert text.count(f"{KV} rows make") == 2
    assert f"0 {D} {D + KV} {QKV_OUT}" in text  # above the packed row
    assert f"{HQ} heads of {DH} {HKV} heads {HKV} heads" in text
    assert f"covers {D} columns: Q." in text
    assert f"reads 2 * {D} floats" in text


def test_the_projections_lengths_are_fed() -> None:
    text, lengths = lesson("qkv-projection"), subject("qkv-projection").lengths
    assert "Right at T = 1 and wrong at T = 5" in text
    assert lengths[:2] == (1, 5)
    x = subject("qkv-projection").make(lengths[-1], "outliers", 3).inputs["normed"]
    size = np.sort(np.abs(x).max(axis=0))
    assert 100.0 < size[-4] / size[-5] < 1000.0  # "a few channels hundreds of times larger than the rest"


def test_ropes_columns_are_the_contracts() -> None:
    text = lesson("rope")
    assert f"Q in columns 0 to {D - 1}, K in {D} to {D + KV - 1}, V in {D + KV} to {QKV_OUT - 1}" in text
    assert f"The {HQ} heads of Q and the {HKV} heads of K" in text
    assert f"dims d and d + {PAIRS}" in text
    assert f"The tables are `[T, {PAIRS}]`" in text
    assert f"each of the {DH} dims" in text
    assert f"the grid stops at head {HQ - 1}." in text
    assert f"*T = {max(subject('rope').lengths)}*" in text


def test_the_slowest_pairs_turn_is_computed() -> None:
    text = lesson("rope")
    cos, sin = reference.rope_tables(2)
    assert np.arctan2(sin[1, 0], cos[1, 0]) == pytest.approx(1.0)
    assert "Pair 0 turns by a whole radian a token" in text
    slowest = ROPE_THETA ** -((PAIRS - 1) / PAIRS)
    assert sin[1, -1] == pytest.approx(np.sin(slowest))
    assert f"a full turn takes {2.0 * np.pi / slowest:.0f} tokens" in text
    assert f"pair {PAIRS - 1} so slowly" in text


def test_scores_depend_on_the_distance_of_two_tokens_only() -> None:
    """What the lesson says RoPE is for, and why a shift of all positions shows in no score."""
    rng = np.random.default_rng(5)
    token = np.tile(rng.standard_normal(QKV_OUT), (9, 1))  # the same token in nine places
    turned = RIGHT(token, *reference.rope_tables(9))
    q, k = turned[:, :DH], turned[:, D : D + DH]
    scores = q @ k.T
    for distance in range(4):
        assert np.ptp(np.diag(scores, -distance)) < 1e-12
    assert np.ptp(scores[:, 0]) > 0.1
