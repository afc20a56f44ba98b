"""The cases are what they claim: repeatable, hazardous, and never void."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilestep import reference, tolerance
from tilestep.contract import DH, GROUP, HKV, HQ, LENGTHS, PROFILE_LENGTH, QKV_OUT, QUERY_TILE, WEIGHTS, D
from tilestep.judge.some_rows import compare_rows, hazard_rows
from tilestep.subjects import protocol, subject
from tilestep.subjects.attention import cases

STEP = "online-attention"


def void(case: cases.AttentionCase, want: np.ndarray, bound: np.ndarray) -> list[str]:
    """The impostors that pass a case within this bound."""
    answers = (protocol.Answer("attention_output", want, bound),)
    return protocol.void(case, answers, cases.impostors(case))


def scores_of(case: cases.AttentionCase) -> np.ndarray:
    """Scaled causal scores of the judged rows, [HQ, rows, rows]."""
    q, k, _ = reference.split_heads(case.qkv)
    n = int(case.judged_rows.sum())
    return np.stack([reference.causal_scores(q[h], k[h // GROUP], np.arange(n)) for h in range(HQ)])


def test_plan_is_in_judging_order() -> None:
    plan = cases.plan(STEP)
    assert [length for length, _ in plan] == sorted(length for length, _ in plan)
    assert {length for length, _ in plan} == set(LENGTHS)
    assert [family for length, family in plan if length == 33] == list(cases.FAMILIES)
    assert cases.plan(STEP, [33, 1, 33]) == cases.plan(STEP, [1, 33])
    assert cases.families(STEP, PROFILE_LENGTH) == cases.FAMILIES


def test_what_is_not_fed_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="future-nan"):
        cases.make(STEP, 1, "future-nan", 0)
    with pytest.raises(ValueError, match="at least 1"):
        cases.families(STEP, 0)


def test_shapes_and_kinds() -> None:
    case = cases.make(STEP, 33, "spread", 1)
    assert case.x.shape == (33, D)
    assert case.qkv.shape == (33, QKV_OUT)
    assert {name: a.shape for name, a in case.weights.items()} == dict(WEIGHTS)
    arrays = (case.x, *case.inputs.values(), *case.weights.values())
    assert all(a.dtype == np.float32 and not a.flags.writeable for a in arrays)


def test_a_seed_repeats_and_another_does_not() -> None:
    first, again, other = (cases.make(STEP, 41, "normal", seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first.qkv, again.qkv)
    np.testing.assert_array_equal(first.x, again.x)
    assert not np.array_equal(first.qkv, other.qkv)
    assert not np.array_equal(first.weights["w_o"], other.weights["w_o"])
    assert first.weights["w_o"] is cases.make(STEP, 2, "planted", 7).weights["w_o"]


def test_the_packed_tensor_comes_out_of_the_block() -> None:
    """Q and K of `normal` are those of the block for x; V differs by its columns' means only."""
    case = cases.make(STEP, 33, "normal", 2)
    right = reference.block(case.x, case.weights)["qkv_rotated"]
    np.testing.assert_allclose(case.qkv[:, : D + HKV * DH], right[:, : D + HKV * DH], rtol=1e-6, atol=1e-6)
    shift = case.qkv[:, D + HKV * DH :] - right[:, D + HKV * DH :]
    np.testing.assert_allclose(np.abs(shift), 0.5, atol=1e-6)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**63 - 1), length=st.sampled_from(LENGTHS))
def test_no_case_is_void(seed: int, length: int) -> None:
    for family in cases.families(STEP, length):
        case = cases.make(STEP, length, family, seed)
        want = reference.attention(case.qkv)
        assert void(case, want, tolerance.attention(case.qkv, want)) == []


@pytest.mark.parametrize("family", cases.FAMILIES)
def test_no_case_of_the_profile_length_is_void(family: str) -> None:
    case = cases.make(STEP, PROFILE_LENGTH, family, 3)
    want = reference.attention(case.qkv)
    assert void(case, want, tolerance.attention(case.qkv, want)) == []


@pytest.mark.parametrize("family", cases.FAMILIES[1:])
def test_the_rows_that_are_compared_of_a_long_case_void_it_neither(family: str) -> None:
    """What needs no attention is wrong in the rows that are looked at, too."""
    asked = subject(STEP)
    case = asked.make(PROFILE_LENGTH, family, 4)
    for name, impostor in cases.impostors(case).items():
        output = impostor.astype(np.float32)
        rows = hazard_rows(case, output)
        assert case.judged_rows[rows].all()
        assert len(rows) >= 64
        (tensor,) = compare_rows(asked, case, family, output, rows).tensors
        assert tensor.wrong.any(), name


def test_a_tolerance_that_hides_everything_makes_a_case_void() -> None:
    case = cases.make(STEP, 33, "normal", 4)
    want = reference.attention(case.qkv)
    assert "zeros" in void(case, want, np.full_like(want, 10.0))


def test_one_key_exempts_the_mean_and_nothing_else() -> None:
    """With one token the mean of the values is right, so it is no impostor; zeros still are."""
    case = cases.make(STEP, 1, "normal", 5)
    want = reference.attention(case.qkv)
    np.testing.assert_array_equal(cases.impostors(case)["mean of all values"], want)
    assert void(case, want, np.full_like(want, 10.0)) == [
        "zeros",
        "the queries",
        "the previous output",
    ]


@pytest.mark.parametrize("seed", range(12))
def test_at_33_the_maximum_moves_far_in_the_second_tile(seed: int) -> None:
    """By more than 8 for row 32 in some head, while the first tile's weight stays above fp32's rounding."""
    scores = scores_of(cases.make(STEP, 33, "spread", seed))[:, 32]
    first, second = scores[:, :QUERY_TILE].max(axis=1), scores[:, QUERY_TILE:].max(axis=1)
    move = second - first
    assert move.max() > 8.0
    assert np.any((move > 0.5) & (move < 14.0))
    assert np.any(move < 0.0)  # under the falling ramp it stays


def test_spread_moves_the_maximum_in_every_tile() -> None:
    scores = scores_of(cases.make(STEP, 128, "spread", 6))
    tiles = [scores[:4, 127, start : start + 32].max(axis=1) for start in range(0, 128, 32)]
    steepest = np.array(tiles)[:, 3]
    assert np.all(np.diff(steepest) > 8.0)
    assert scores[7, 127, 0] > scores[7, 127, 127] + 88.0  # and the other way under KV head 1


def test_negative_logits_are_below_what_exp_can_hold() -> None:
    scores = scores_of(cases.make(STEP, 128, "negative", 7)).reshape(HKV, GROUP, 128, 128)
    seen = scores[:, :, np.tril(np.ones((128, 128), dtype=bool))]
    assert seen[:, 1:].max() < -104.0  # exp is 0 even as a subnormal
    assert seen[:, 0].max() < 0.0
    values = reference.split_heads(cases.make(STEP, 128, "negative", 7).qkv)[2]
    np.testing.assert_allclose(values.mean(axis=1), 0.0, atol=1e-6)


@pytest.mark.parametrize("length", [n for n in LENGTHS if n > 1])
def test_the_nan_cut_falls_inside_a_tile(length: int) -> None:
    for seed in range(6):
        case = cases.make(STEP, length, "future-nan", seed)
        cut = int(case.judged_rows.sum())
        assert 1 <= cut < length
        assert cut % 8 != 0
        assert np.all(np.isnan(case.qkv[cut:]))
        assert np.all(np.isfinite(case.qkv[:cut]))
        assert np.all(np.isfinite(case.x))
