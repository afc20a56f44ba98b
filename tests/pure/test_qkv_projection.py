"""qkv-projection: honest fp32 sums pass with room, lower precision does not; what each family is for."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tilestep import mistakes
from tilestep.contract import QKV_OUT, D
from tilestep.mistakes import Observation
from tilestep.subjects import Case, subject

PROJECTION = subject("qkv-projection")
SEED = 11
UNWRITTEN = np.uint32(0xFFFFFFFF).view(np.float32)


@cache
def cases(seed: int = SEED) -> tuple[Case, ...]:
    return tuple(
        PROJECTION.make(length, family, seed)
        for length in PROJECTION.lengths
        for family in PROJECTION.families(length)
    )


@cache
def answer_of(length: int, family: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    (answer,) = PROJECTION.answers(PROJECTION.make(length, family, seed))
    return answer.want, answer.tolerance


def seen(case: Case, got: np.ndarray) -> Observation:
    want, tolerance = answer_of(case.length, case.family, case.seed)
    part = ("qkv", got, want, tolerance)
    return Observation(PROJECTION.given(case), [part], case.judged_rows, case.length, PROJECTION.group)


def serial(case: Case, order: np.ndarray) -> np.ndarray:
    """The sums in fp32, a term at a time."""
    x, weight = case.inputs["normed"], case.inputs["w_qkv"]
    total = np.zeros((case.length, QKV_OUT), dtype=np.float32)
    for i in order:
        total += x[:, i : i + 1] * weight[None, :, i]
    return total


def rounded_to(array: np.ndarray, bits: int) -> np.ndarray:
    """float32 with fewer bits of mantissa: 10 for TF32, 7 for bf16."""
    dropped = np.uint32(23 - bits)
    whole = np.ascontiguousarray(array).view(np.uint32)
    half = np.uint32(1) << (dropped - np.uint32(1))
    return ((whole + half) >> dropped << dropped).view(np.float32)


@pytest.mark.parametrize("seed", range(3))
def test_honest_sums_stay_four_times_below_their_bound(seed: int) -> None:
    forward = np.arange(D)
    for case in cases(seed):
        for order in (forward, forward[::-1], forward.reshape(32, 16).T.reshape(-1)):
            assert seen(case, serial(case, order)).ratio <= 0.25, (case.length, case.family)


@pytest.mark.parametrize("bits", [10, 7])
def test_reduced_precision_fails_and_is_named(bits: int) -> None:
    observations = []
    for case in cases():
        x, weight = (rounded_to(case.inputs[name], bits) for name in ("normed", "w_qkv"))
        observations.append(seen(case, x @ weight.T))
    assert all(o.failed for o in observations)
    found = mistakes.match_many(observations, PROJECTION.mistakes)
    assert [m.mistake.code for m in found] == ["low-precision"]


def test_outliers_overflow_a_half() -> None:
    case = PROJECTION.make(17, "outliers", SEED)
    want, _ = answer_of(17, "outliers", SEED)
    assert np.abs(case.inputs["normed"]).max() > 100.0
    assert np.abs(want).max() > 65504.0


def test_a_nan_token_is_not_judged_and_the_others_are() -> None:
    case = PROJECTION.make(17, "nan-token", SEED)
    spoilt = np.isnan(case.inputs["normed"]).any(axis=1)
    assert spoilt.sum() == 1
    assert np.array_equal(case.judged_rows, ~spoilt)
    leaked = np.nan_to_num(answer_of(17, "nan-token", SEED)[0])
    leaked[:] += 0.0 * case["normed"].sum()
    assert seen(case, leaked).wrong[case.judged_rows].all()


def named(written: tuple[slice, slice]) -> list[str]:
    """The names for an output that is right in this part, and unwritten elsewhere."""
    observations = []
    for case in cases():
        got = np.full((case.length, QKV_OUT), UNWRITTEN, dtype=np.float32)
        got[written] = answer_of(case.length, case.family, case.seed)[0][written]
        observations.append(seen(case, got))
    return [m.mistake.code for m in mistakes.match_many(observations, PROJECTION.mistakes)]


def test_missing_columns_at_the_end_have_a_name_of_their_own() -> None:
    everything = slice(None)
    assert named((everything, slice(D))) == ["slab-rows-missing"]
    assert named((slice(-1), everything)) == ["output-not-written"]
    assert named((everything, slice(D, None))) == ["output-not-written"]


def test_a_right_output_and_garbage_have_no_name() -> None:
    right = [
        seen(case, answer_of(case.length, case.family, case.seed)[0].astype(np.float32)) for case in cases()
    ]
    assert not any(o.failed for o in right)
    rng = np.random.default_rng(0)
    garbage = [seen(case, rng.standard_normal((case.length, QKV_OUT))) for case in cases()]
    assert mistakes.match_many(garbage, PROJECTION.mistakes) == []


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(ValueError, match="'nan-token' is not fed at length 1"):
        PROJECTION.make(1, "nan-token", SEED)
