"""The rows that the softmax steps are fed hold their hazards; the bounds fit honest fp32 arithmetic only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tilestep.contract import STEP
from tilestep.subjects import Answer, Case, Subject, subject, void
from tilestep.subjects.softmax import inputs, online
from tilestep.subjects.softmax.online import Steps

STEPS = ("stable-softmax", "block-softmax", "online-softmax")
SEED = 11
WIDTHS = (2, 31, 33, 300, 1100)

Floats = np.ndarray


@pytest.fixture(params=STEPS)
def softmax(request: pytest.FixtureRequest) -> Subject:
    return subject(request.param)


def plan(softmax: Subject) -> list[tuple[int, str]]:
    return [(length, family) for length in softmax.lengths for family in softmax.families(length)]


def rows(family: str, columns: int = 97, count: int = 11) -> Floats:
    return inputs.make(count, columns, family, SEED)


# --- what is fed --------------------------------------------------------------------------------------------


def test_a_case_is_what_the_seam_takes(softmax: Subject) -> None:
    for length, family in plan(softmax):
        case = softmax.make(length, family, SEED)
        shape = (case.sizes["rows"], length)
        seam = STEP[case.step].seam
        assert set(case.sizes) == {parameter.name for parameter in seam.sizes}
        assert case.inputs["matrix"].shape == shape
        assert case.inputs["matrix"].dtype == np.float32
        assert [answer.want.shape for answer in softmax.answers(case)] == [shape]
        assert case.judged_rows.all()


def test_sizes_are_awkward(softmax: Subject) -> None:
    """Narrower than a warp, past it by one, longer than any block; rows never fill a warp or a block."""
    assert {1, 33} <= set(softmax.lengths)
    assert min(softmax.lengths) == 1
    assert max(softmax.lengths) > 1024
    counts = [softmax.make(length, "normal", SEED).sizes["rows"] for length in softmax.lengths]
    assert all(count % 2 for count in counts)


def test_a_thread_a_row_meets_more_rows_than_a_block_has_threads() -> None:
    assert subject("stable-softmax").make(2, "normal", SEED).sizes["rows"] > 256


def test_a_seed_repeats_and_another_does_not(softmax: Subject) -> None:
    first, again, other = (softmax.make(33, "late", seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first.inputs["matrix"], again.inputs["matrix"])
    assert not np.array_equal(first.inputs["matrix"], other.inputs["matrix"])


def test_large_rows_overflow_exp_and_negative_ones_vanish() -> None:
    with np.errstate(over="ignore", under="ignore"):
        assert np.isinf(np.exp(rows("large").max(axis=1))).all()
        sums = np.exp(rows("negative")).sum(axis=1)
    assert set(rows("large").max(axis=1)) == set(inputs.LARGE_LEVELS)
    assert (sums < np.finfo(np.float32).tiny).all()
    assert (sums == 0.0).any()


@pytest.mark.parametrize("threads", [1, 32, 256])
def test_the_maximum_moves_late(threads: int) -> None:
    """By much and by little, for one thread with the whole row as for many with a few columns each."""
    x = rows("late", 1100)
    moved = x.max(axis=1) - x[:, :threads].max(axis=1)
    assert (moved > 88.0).any()
    assert ((moved > 1.0) & (moved < 60.0)).any()
    assert (x[:, -1] == x.max(axis=1)).any()


def test_masked_rows_hold_a_finite_value_and_every_kind_of_hole() -> None:
    for columns in (2, 3, 33, 1100):
        x = rows("masked", columns)
        hidden = np.isneginf(x)
        assert hidden.any()
        assert not hidden.all(axis=1).any()
        assert hidden[:, 0].any()
        assert hidden[:, -1].any()
        assert ((~hidden).sum(axis=1) == 1).any()


def test_what_is_not_fed_is_refused_in_words(softmax: Subject) -> None:
    with pytest.raises(ValueError, match="masked"):
        softmax.make(1, "masked", 0)
    with pytest.raises(ValueError, match="at least 1 column"):
        softmax.families(0)


@pytest.mark.parametrize("seed", range(3))
def test_no_case_is_void(softmax: Subject, seed: int) -> None:
    for length, family in plan(softmax):
        case = softmax.make(length, family, seed)
        answers = softmax.answers(case)
        assert void(case, answers, softmax.impostors(case, answers)) == [], (length, family)


# --- what is right, and how far off it may be ---------------------------------------------------------------


def answer(columns: int, family: str) -> tuple[Case, Answer]:
    softmax = subject("stable-softmax")
    case = softmax.make(columns, family, SEED)
    return case, softmax.answers(case)[0]


def ratio(got: Floats, right: Answer) -> float:
    worst = np.max(np.abs(got.astype(np.float64) - right.want) / right.tolerance)
    return float(worst)


def _sum(p: Floats) -> Floats:
    """In fp32, one after another."""
    return np.cumsum(p, axis=1, dtype=np.float32)[:, -1:]


def _three_passes(x: Floats) -> Floats:
    p = np.exp(x - x.max(axis=1, keepdims=True))
    return p / _sum(p)


def _fast_exp(x: Floats) -> Floats:
    """As __expf does it: 2 to a rounded product."""
    p = np.exp2((x - x.max(axis=1, keepdims=True)) * np.float32(np.log2(np.e)))
    return p / _sum(p)


def _folded(x: Floats) -> Floats:
    """log2(e) is multiplied in before the maximum is taken off."""
    y = x * np.float32(np.log2(np.e))
    p = np.exp2(y - y.max(axis=1, keepdims=True))
    return p / _sum(p)


def _one_pass(x: Floats) -> Floats:
    m = np.full(x.shape[0], -np.inf, dtype=np.float32)
    total = np.zeros_like(m)
    for column in x.T:
        new = np.maximum(m, column)
        with np.errstate(invalid="ignore"):
            total = np.where(np.isneginf(new), total, total * np.exp(m - new) + np.exp(column - new))
        m = new
    return np.exp(x - m[:, None]) / total[:, None]


HONEST = (_three_passes, _fast_exp, _folded, _one_pass)


@pytest.mark.parametrize("honest", HONEST)
def test_honest_fp32_stays_four_times_below(honest: Callable[[Floats], Floats]) -> None:
    for columns in (1, *WIDTHS):
        for family in inputs.families(columns):
            case, right = answer(columns, family)
            assert ratio(honest(case.inputs["matrix"]), right) <= 0.25, (columns, family)


def _cut(x: Floats, bits: int) -> Floats:
    return (x.view(np.uint32) & np.uint32(0xFFFFFFFF << bits & 0xFFFFFFFF)).view(np.float32)


def _half_weights(x: Floats) -> Floats:
    p = np.exp(x - x.max(axis=1, keepdims=True)).astype(np.float16).astype(np.float32)
    return p / _sum(p)


LOW = {
    "tf32 values": lambda x: _three_passes(_cut(x, 13)),
    "bf16 values": lambda x: _three_passes(_cut(x, 16)),
    "half values": lambda x: _three_passes(x.astype(np.float16).astype(np.float32)),
    "half exponentials": _half_weights,
    "half probabilities": lambda x: _three_passes(x).astype(np.float16).astype(np.float32),
    "tf32 probabilities": lambda x: _cut(_three_passes(x), 13),
}


@pytest.mark.parametrize("kind", LOW)
def test_less_than_fp32_is_out_of_bounds_in_every_family(kind: str) -> None:
    for columns in WIDTHS:
        for family in inputs.families(columns):
            case, right = answer(columns, family)
            assert ratio(LOW[kind](case.inputs["matrix"]), right) > 1.0, (columns, family)


def test_a_masked_value_has_no_probability_and_a_lone_one_all_of_it() -> None:
    case, right = answer(33, "masked")
    x = case["matrix"]
    assert np.all(right.want[np.isneginf(x)] == 0.0)
    alone = np.isfinite(x).sum(axis=1) == 1
    assert alone.any()
    assert np.all(right.want[alone].max(axis=1) == 1.0)
    assert np.all(answer(1, "negative")[1].want == 1.0)


@pytest.mark.parametrize("threads", [1, 32, 96, 1024])
def test_the_one_pass_with_every_line_right_is_the_softmax(threads: int) -> None:
    for family in inputs.FAMILIES:
        case, right = answer(300, family)
        assert np.allclose(online.run(case["matrix"], threads, Steps()), right.want, rtol=1e-5, atol=1e-30)
