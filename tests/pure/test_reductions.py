"""block-sum, block-max and warp-reductions as subjects: what is fed, how strict, and what has a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from tilestep.mistakes import Hypothesis, Mistake, Observation, match_many
from tilestep.subjects import Answer, Case, subject, void
from tilestep.subjects.reduction import matrices

STEPS = ("block-sum", "block-max", "warp-reductions")
SEED = 6
Floats = NDArray[np.float32]
Fed = list[tuple[Case, tuple[Answer, ...]]]


def fed(step: str, seed: int = SEED) -> Fed:
    """Every case of a step with its right answers."""
    s = subject(step)
    cases = [s.make(length, family, seed) for length in s.lengths for family in s.families(length)]
    return [(case, s.answers(case)) for case in cases]


# --- what is fed --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
def test_no_case_is_void(step: str) -> None:
    s = subject(step)
    for seed in range(40):
        for case, answers in fed(step, seed):
            passing = void(case, answers, s.impostors(case, answers))
            assert passing == [], (seed, case.length, case.family)


def test_lengths_stand_around_warp_and_block() -> None:
    columns = set(matrices.COLUMNS)
    assert {1, 31, 33, 257} <= columns  # one value, around a warp, one past 256 threads
    assert max(columns) > 1024  # longer than any block
    assert any(1 < n < 32 for n in columns)
    assert any(n % 32 and 33 < n < 256 for n in columns)
    rows = [matrices.rows_of(n) for n in columns]
    assert matrices.rows_of(1) == 1
    assert all(n % 2 == 1 for n in rows)
    assert any(matrices.rows_of(n) > n for n in columns)


@pytest.mark.parametrize("columns", [n for n in matrices.COLUMNS if n > 1])
def test_hazards_are_where_they_are_said_to_be(columns: int) -> None:
    rng = np.random.default_rng(SEED)
    negative = matrices.draw("negative", columns, rng)
    assert (negative < 0.0).all()
    assert negative[-1].max() < -1e11

    ends = matrices.draw("ends", columns, rng).argmax(axis=1)
    assert (ends[::2] == columns - 1).all()
    assert (ends[1::2] == 0).all()

    lowest = matrices.draw("minus-infinity", columns, rng)
    assert np.isneginf(lowest[0]).all()
    assert (np.isfinite(lowest[1:]).sum(axis=1) == 1).all()
    assert (lowest[1:].max(axis=1) < -9e37).all()

    cancelling = matrices.draw("cancelling", columns, rng)
    assert np.abs(cancelling.astype(np.float64).sum(axis=1)).max() < np.abs(cancelling).max()
    assert (np.abs(matrices.draw("positive", columns, rng)) > 0.0).all()


def test_the_same_seed_makes_the_same_case_and_another_does_not() -> None:
    s = subject("block-sum")
    first, again, other = (s.make(33, "normal", seed).inputs["matrix"] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    with pytest.raises(ValueError, match="cancelling"):
        s.make(1, "cancelling", 1)


# --- how strict ---------------------------------------------------------------------------------------------


def one_after_another(x: Floats) -> Floats:
    total = np.zeros(x.shape[0], dtype=np.float32)
    for column in x.T:
        total = (total + column).astype(np.float32)
    return total


def block_of(threads: int) -> Callable[[Floats], Floats]:
    """Partial sums in strides, then a tree, all in fp32."""

    def fold(x: Floats) -> Floats:
        leaves = np.zeros((x.shape[0], threads), dtype=np.float32)
        for start in range(0, x.shape[1], threads):
            part = x[:, start : start + threads]
            leaves[:, : part.shape[1]] += part
        half = threads // 2
        while half > 0:
            leaves[:, :half] += leaves[:, half : 2 * half]
            half //= 2
        return leaves[:, 0]

    return fold


ORDERS: dict[str, Callable[[Floats], Floats]] = {
    "left to right": one_after_another,
    "right to left": lambda x: one_after_another(x[:, ::-1]),
    "smallest first": lambda x: one_after_another(np.sort(x, axis=1)),
    "32 lanes": block_of(32),
    "256 threads": block_of(256),
    "1024 threads": block_of(1024),
}


@pytest.mark.parametrize("order", ORDERS)
def test_an_honest_sum_stays_below_a_quarter_of_the_bound(order: str) -> None:
    for seed in range(8):
        for case, (answer,) in fed("block-sum", seed):
            got = ORDERS[order](case.inputs["matrix"])
            error = np.abs(got[:, None].astype(np.float64) - answer.want)
            assert (error <= answer.tolerance / 4.0).all(), (seed, case.length, case.family)


def rounded(x: Floats, bits: int) -> Floats:
    """x with so many bits of its mantissa."""
    drop = np.uint32(23 - bits)
    raw = x.view(np.uint32) + (np.uint32(1) << (drop - np.uint32(1)))
    return (raw >> drop << drop).view(np.float32)


@pytest.mark.parametrize("bits", [7, 10], ids=["bf16", "TF32 and half"])
@pytest.mark.parametrize("family", ["normal", "positive"])
def test_a_sum_of_rounded_values_does_not_pass(bits: int, family: str) -> None:
    s = subject("block-sum")
    # The roundings of a thousand values to ten bits average out, beside those of an honest serial sum.
    for length in (n for n in s.lengths if bits < 10 or n <= 96):
        case = s.make(length, family, SEED)
        (answer,) = s.answers(case)
        got = rounded(case.inputs["matrix"], bits).astype(np.float64).sum(axis=1, keepdims=True)
        assert not (np.abs(got - answer.want) <= answer.tolerance).all(), length


def test_no_other_float_is_a_maximum() -> None:
    for case, (answer,) in fed("block-max"):
        right = case.inputs["matrix"].max(axis=1, keepdims=True)
        assert np.array_equal(right, answer.want.astype(np.float32))
        finite = np.isfinite(right)
        for direction in (-np.inf, np.inf):
            neighbour = np.nextafter(right, np.float32(direction), dtype=np.float32)
            with np.errstate(invalid="ignore"):
                error = np.abs(neighbour.astype(np.float64) - answer.want)
            assert not (error[finite] <= answer.tolerance[finite]).any()


def test_warp_reductions_ask_for_sums_first_then_maxima() -> None:
    for case, answers in fed("warp-reductions"):
        x = case.inputs["matrix"].astype(np.float64)
        assert [answer.tensor for answer in answers] == ["sums", "maxima"]
        assert np.allclose(answers[0].want[:, 0], x.sum(axis=1), rtol=1e-12)
        assert np.array_equal(answers[1].want[:, 0], x.max(axis=1))


# --- what has a name ----------------------------------------------------------------------------------------

WAYS = [
    pytest.param(step, mistake, hypothesis, id=f"{step}-{mistake.code}-{hypothesis.label}")
    for step in STEPS
    for mistake in subject(step).mistakes
    for hypothesis in mistake.hypotheses
]
LENGTHS = (1, 33, 96, 257, 1100)


def seen(step: str, hypothesis: Hypothesis) -> list[Observation]:
    """What a kernel with the mistake returns, in fp32."""
    s = subject(step)
    observations = []
    for case, answers in fed(step):
        if case.length not in LENGTHS:
            continue
        with np.errstate(all="ignore"):
            output = hypothesis.output(s.given(case))
        if isinstance(output, np.ndarray):
            output = {answer.tensor: np.broadcast_to(output, answer.want.shape) for answer in answers}
        assert isinstance(output, Mapping)
        parts = [
            (a.tensor, output.get(a.tensor, a.want).astype(np.float32), a.want, a.tolerance) for a in answers
        ]
        observations.append(Observation(s.given(case), parts, case.judged_rows, case.length, s.group))
    return observations


@pytest.mark.parametrize(("step", "mistake", "hypothesis"), WAYS)
def test_every_way_to_make_a_mistake_has_its_name_and_no_other(
    step: str, mistake: Mistake, hypothesis: Hypothesis
) -> None:
    found = match_many(seen(step, hypothesis), subject(step).mistakes)
    assert [match.mistake.code for match in found] == [mistake.code]


@pytest.mark.parametrize("step", STEPS)
def test_right_values_have_no_name(step: str) -> None:
    right = Hypothesis("right", lambda case: {a.tensor: a.want for a in subject(step).answers(case)})
    assert match_many(seen(step, right), subject(step).mistakes) == []


def half_tree(x: Floats) -> NDArray[np.float16]:
    """Leaves kept as halves, folded in a tree: large values overflow."""
    leaves = block_of(256)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(leaves(x.astype(np.float16).astype(np.float32)).astype(np.float16))


def test_a_sum_in_halves_is_named_although_it_overflows() -> None:
    s = subject("block-sum")
    observations = []
    for case, (answer,) in fed("block-sum"):
        got = half_tree(case.inputs["matrix"])[:, None].astype(np.float32)
        parts = [(answer.tensor, got, answer.want, answer.tolerance)]
        observations.append(Observation(case, parts, case.judged_rows, case.length))
    assert [match.mistake.code for match in match_many(observations, s.mistakes)] == ["low-precision"]


# --- the numbers that the lessons state ---------------------------------------------------------------------


def levels(leaves: int) -> list[int]:
    """What a tree of halves folds down to, level by level."""
    found = []
    while leaves > 1:
        leaves //= 2
        found.append(leaves)
    return found


def test_numbers_of_the_lessons() -> None:
    assert len(levels(8)) == 3
    assert len(levels(256)) == 8
    assert levels(96) == [48, 24, 12, 6, 3, 1]
    assert len(levels(32)) == 5

    x = [3, 1, 4, 1, 5, 9, 2, 6]
    first = [a + b for a, b in zip(x[:4], x[4:], strict=True)]
    second = [a + b for a, b in zip(first[:2], first[2:], strict=True)]
    assert (first, second, sum(second)) == ([8, 10, 6, 7], [14, 17], 31)

    assert 0.0 < np.finfo(np.float32).tiny < 2e-38
    assert np.finfo(np.float32).min > -np.inf
