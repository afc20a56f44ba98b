"""swiglu: honest fp32 kernels pass with room, lower precision does not; what each family is for."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
import pytest

from tilestep import mistakes, reference
from tilestep.contract import STEP, D, F
from tilestep.mistakes import Observation
from tilestep.subjects import Case, subject
from tilestep.subjects.swiglu import inputs

GATED = subject("swiglu")
SEED = 11
F32 = np.float32
LENGTHS = (1, 2, 17)


@cache
def cases(seed: int = SEED) -> tuple[Case, ...]:
    return tuple(GATED.make(length, family, seed) for length in LENGTHS for family in GATED.families(length))


def seen(case: Case, got: np.ndarray) -> Observation:
    (answer,) = GATED.answers(case)
    part = (answer.tensor, got, answer.want, answer.tolerance)
    return Observation(GATED.given(case), [part], case.judged_rows, case.length, GATED.group)


def serial(case: Case, weight: str, order: np.ndarray) -> np.ndarray:
    """A projection in fp32, a term at a time."""
    x, w = case.inputs["normed_2"], np.ascontiguousarray(case.inputs[weight].T)
    total = np.zeros((case.length, F), dtype=F32)
    for k in order:
        total += x[:, k : k + 1] * w[k]
    return total


def by_exp(z: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.asarray(z / (F32(1.0) + np.exp(-z)))


def by_tanh(z: np.ndarray) -> np.ndarray:
    return np.asarray(F32(0.5) * z * (F32(1.0) + np.tanh(F32(0.5) * z)))


def gate_of(case: Case) -> np.ndarray:
    return reference.project(case["normed_2"], case["w_gate"])


@pytest.mark.parametrize("silu", [by_exp, by_tanh])
@pytest.mark.parametrize("backwards", [False, True])
def test_honest_kernels_stay_four_times_below_their_bound(silu: object, backwards: bool) -> None:
    order = np.arange(D)[::-1] if backwards else np.arange(D)
    assert callable(silu)
    for case in cases():
        got = silu(serial(case, "w_gate", order)) * serial(case, "w_up", order)
        assert got.dtype == F32
        assert seen(case, got).ratio <= 0.25, (case.length, case.family)


@pytest.mark.parametrize("dropped", [13, 16], ids=["TF32", "bf16"])
def test_lower_precision_fails_and_is_named(dropped: int) -> None:
    observations = []
    for case in cases():
        x = np.ascontiguousarray(case.inputs["normed_2"]).view(np.uint32)
        narrow = (x & np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)).view(F32)
        got = reference.swiglu(narrow, case.inputs["w_gate"], case.inputs["w_up"]).astype(F32)
        observations.append(seen(case, got))
    assert all(o.failed for o in observations)
    assert [m.mistake.code for m in mistakes.match_many(observations, GATED.mistakes)] == ["low-precision"]


def test_steep_gates_lie_past_the_range_of_exp_on_both_sides() -> None:
    for length in LENGTHS:
        case = GATED.make(length, "steep", SEED)
        gate = gate_of(case)
        assert gate.max() > 89.0
        assert gate.min() < -104.0
        product = reference.silu(gate) * reference.project(case["normed_2"], case["w_up"])
        assert np.abs(product).max() > float(np.finfo(np.float16).max)


def test_the_overflowing_form_fails_in_steep_only() -> None:
    (mistake,) = (m for m in GATED.mistakes if m.code == "silu-overflow")
    caught = set()
    for case in cases():
        with np.errstate(all="ignore"):
            got = np.asarray(mistake.hypotheses[0].output(GATED.given(case))).astype(F32)
        if seen(case, got).failed:
            caught.add(case.family)
            assert np.isnan(got).any()
    assert caught == {"steep"}


def test_a_lone_value_shows_one_weight_of_each_matrix() -> None:
    case = GATED.make(7, "lone", SEED)
    x = case["normed_2"]
    assert (np.count_nonzero(x, axis=1) == 1).all()
    assert x[0, D - 1] != 0.0
    assert x[1, 0] != 0.0
    np.testing.assert_allclose(gate_of(case)[0], x[0, D - 1] * case["w_gate"][:, D - 1])


def test_a_closed_gate_leaves_room_for_nothing_but_rounding() -> None:
    """Where silu has vanished, the bound must have too: a kernel that lets up through is wrong there."""
    case = GATED.make(17, "steep", SEED)
    (answer,) = GATED.answers(case)
    closed = gate_of(case) < -104.0
    assert closed.any()
    up = np.abs(reference.project(case["normed_2"], case["w_up"]))[closed]
    assert (answer.tolerance[closed] < 1e-3 * np.maximum(up, 1.0)).all()


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(ValueError, match="'flat' is not fed"):
        GATED.make(2, "flat", SEED)


def test_the_lesson_says_what_is_in_the_contract_and_what_is_right() -> None:
    text = files("tilestep").joinpath("path", "lessons", "08-swiglu", "lesson.md").read_text("utf-8")
    flat = " ".join(text.split())
    assert f"{STEP['swiglu'].seam.prototype};" in flat
    assert f"D = {D} and F = {F}" in flat
    assert f"the same {D * F} elements" in flat
    assert f"rows of up to {max(inputs.STEEP_LEVELS):g} units" in flat
    with np.errstate(over="ignore"):
        assert np.isinf(np.exp(F32(89.0)))
    assert np.isfinite(np.exp(F32(88.0)))
    gate, up = 2.0, -1.0
    right, swapped = reference.silu(gate) * up, reference.silu(up) * gate
    assert f"right is {right:.2f}. With the two swapped it is {swapped:.2f}" in flat
    assert f"of the product {reference.silu(gate * up):.2f}, without silu {gate * up:g}." in flat
    lowest = reference.silu(np.linspace(-3.0, 0.0, 3001)).min()
    assert f"and {lowest:.2f} at the lowest point" in flat
