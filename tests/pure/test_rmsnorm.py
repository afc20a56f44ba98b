"""rmsnorm: honest fp32 norms pass with room, lower precision does not; what each family is for."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
import pytest

from tilestep import mistakes, reference
from tilestep.contract import RMS_EPS, STEP, D
from tilestep.mistakes import Observation
from tilestep.subjects import Case, subject
from tilestep.subjects.rmsnorm import inputs

NORM = subject("rmsnorm")
SEED = 11
F32 = np.float32


@cache
def cases(seed: int = SEED) -> tuple[Case, ...]:
    return tuple(
        NORM.make(length, family, seed) for length in NORM.lengths for family in NORM.families(length)
    )


def seen(case: Case, got: np.ndarray) -> Observation:
    (answer,) = NORM.answers(case)
    part = (answer.tensor, got, answer.want, answer.tolerance)
    return Observation(NORM.given(case), [part], case.judged_rows, case.length, NORM.group)


def serial(x: np.ndarray, weight: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The squares added one at a time, all in fp32."""
    total = np.zeros((x.shape[0], 1), dtype=F32)
    for c in columns:
        total += x[:, c : c + 1] * x[:, c : c + 1]
    return np.asarray(x / np.sqrt(total / F32(D) + F32(RMS_EPS)) * weight, dtype=F32)


def inputs_of(case: Case) -> tuple[np.ndarray, np.ndarray]:
    return case.inputs["x"], case.inputs["norm_weight"]


def failing(code: str) -> set[str]:
    """The families that a mistake fails at any length, in its first form."""
    (mistake,) = (m for m in NORM.mistakes if m.code == code)
    caught = set()
    for case in cases():
        with np.errstate(all="ignore"):
            got = np.asarray(mistake.hypotheses[0].output(case)).astype(F32)
        if seen(case, got).failed:
            caught.add(case.family)
    return caught


@pytest.mark.parametrize("seed", range(3))
def test_an_honest_norm_stays_four_times_below_its_bound(seed: int) -> None:
    forward = np.arange(D)
    for case in cases(seed):
        for order in (forward, forward[::-1]):
            assert seen(case, serial(*inputs_of(case), order)).ratio <= 0.25, (case.length, case.family)


def test_half_and_bf16_inputs_fail_and_are_named() -> None:
    observations = []
    for case in cases():
        x, weight = inputs_of(case)
        narrow = (np.ascontiguousarray(x).view(np.uint32) & np.uint32(0xFFFF0000)).view(F32)
        observations.append(seen(case, serial(narrow, weight, np.arange(D))))
    assert all(o.failed for o in observations)
    assert [m.mistake.code for m in mistakes.match_many(observations, NORM.mistakes)] == ["low-precision"]


def test_epsilon_shows_in_tiny_rows_only() -> None:
    for code in ("eps-missing", "eps-outside-root"):
        assert failing(code) == {"tiny"}, code


def test_half_squares_overflow_in_the_large_rows() -> None:
    case = NORM.make(2, "large", SEED)
    (mistake,) = (m for m in NORM.mistakes if m.code == "half-squares")
    with np.errstate(all="ignore"):
        got = np.asarray(mistake.hypotheses[0].output(case))
    assert (got == 0.0).all()


def test_a_mean_that_is_taken_off_shows_in_every_family() -> None:
    assert failing("mean-subtracted") == set(NORM.family_names)


def test_a_row_of_zeros_stays_zeros() -> None:
    case = NORM.make(7, "tiny", SEED)
    zero = ~case.inputs["x"].any(axis=1)
    assert list(np.flatnonzero(zero)) == [1, 6]
    (answer,) = NORM.answers(case)
    assert not answer.want[zero].any()
    assert (answer.tolerance[zero] < 1e-37).all()


def test_the_largest_sum_of_squares_is_still_an_fp32_number() -> None:
    case = NORM.make(33, "large", SEED)
    squares = (case["x"] ** 2).sum(axis=1)
    assert 1e34 < squares.max() < float(np.finfo(F32).max) / 100


def test_a_norm_applied_twice_hides_behind_weights_of_one() -> None:
    x = np.asarray(np.random.default_rng(0).standard_normal((2, D)))
    ones = np.ones(D)
    once = reference.rms_norm(x, ones)
    np.testing.assert_allclose(reference.rms_norm(once, ones), once, rtol=1e-5)
    assert failing("norm-twice") == set(NORM.family_names)


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(ValueError, match="'wide' is not fed"):
        NORM.make(7, "wide", SEED)


def test_the_lesson_says_what_is_in_the_contract_and_what_is_fed() -> None:
    text = files("tilestep").joinpath("path", "lessons", "07-rmsnorm", "lesson.md").read_text("utf-8")
    assert f"{STEP['rmsnorm'].seam.prototype};" in text
    assert f"with D = {D}," in text
    assert f"`RMS_EPS` = {RMS_EPS:g}" in text
    assert f"Values of {inputs.LARGE_LEVELS[0]:g} have" in text
    assert f"values of {inputs.LARGE_LEVELS[-1]:g} have" in " ".join(text.split())
    assert inputs.WEIGHT_RANGE == (0.25, 4.0)
    assert "Weights between 1/4 and 4" in text
    assert inputs.LARGE_LEVELS[0] ** 2 > float(np.finfo(np.float16).max) == 65504.0
