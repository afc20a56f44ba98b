"""rope: an honest fp32 rotation passes with room, lower precision does not; what each family is for."""

from __future__ import annotations

import numpy as np
import pytest

from tilestep import mistakes
from tilestep.contract import DH, KV, D
from tilestep.mistakes import Hypothesis, Observation
from tilestep.subjects import Case, subject
from tilestep.subjects.rotation.turns import RIGHT

ROPE = subject("rope")
SEED = 11


def cases(seed: int = SEED) -> list[Case]:
    return [ROPE.make(length, family, seed) for length in ROPE.lengths for family in ROPE.families(length)]


def seen(case: Case, got: np.ndarray) -> Observation:
    (answer,) = ROPE.answers(case)
    part = (answer.tensor, got, answer.want, answer.tolerance)
    return Observation(ROPE.given(case), [part], case.judged_rows, case.length, ROPE.group)


def as_kernel(hypothesis: Hypothesis, case: Case) -> np.ndarray:
    """What a kernel with this mistake leaves: fp32."""
    with np.errstate(all="ignore"):
        output = np.asarray(hypothesis.output(case)).astype(np.float32)
    return np.broadcast_to(output, case.inputs["qkv"].shape)


def in_type(case: Case, dtype: type) -> np.ndarray:
    """The right rotation with every value and result rounded to a type; V is left alone."""
    with np.errstate(all="ignore"):
        qkv, cos, sin = (case.inputs[name].astype(dtype) for name in ("qkv", "rope_cos", "rope_sin"))
        turned = RIGHT(qkv, cos, sin).astype(np.float32)
    turned[:, D + KV :] = case.inputs["qkv"][:, D + KV :]
    return turned


@pytest.mark.parametrize("seed", range(4))
def test_an_honest_rotation_stays_four_times_below_its_bound(seed: int) -> None:
    for case in cases(seed):
        assert seen(case, in_type(case, np.float32)).ratio <= 0.25, (case.length, case.family)


def test_half_precision_fails_and_is_named() -> None:
    observations = [seen(case, in_type(case, np.float16)) for case in cases()]
    assert all(o.failed for o in observations if o.length > 1)
    assert [m.mistake.code for m in mistakes.match_many(observations, ROPE.mistakes)] == ["low-precision"]


def test_position_zero_is_the_identity_to_the_bit() -> None:
    case = ROPE.make(1, "normal", SEED)
    (answer,) = ROPE.answers(case)
    assert np.array_equal(answer.want, case["qkv"])
    nearly = np.nextafter(case.inputs["qkv"], np.float32(9.0))
    assert seen(case, nearly).wrong.all()


@pytest.mark.parametrize("family", ROPE.family_names)
def test_v_must_keep_its_values(family: str) -> None:
    """One value of V off by the smallest step that a float has is wrong, and so is a NaN there."""
    case = ROPE.make(7, family, SEED)
    right = ROPE.answers(case)[0].want.astype(np.float32)
    for value in (np.nextafter(right[6, -1], np.float32(0.0)), np.float32(np.nan)):
        got = right.copy()
        got[6, -1] = value
        assert np.argwhere(seen(case, got).wrong).tolist() == [[6, D + 2 * KV - 1]]


def test_special_values_stand_in_v_only() -> None:
    case = ROPE.make(64, "special-v", SEED)
    special = ~np.isfinite(case.inputs["qkv"])
    assert special[:, D + KV :].any()
    assert not special[:, : D + KV].any()
    assert (np.abs(case.inputs["qkv"][:, D + KV :]) == np.float32(1e-40)).any()


def test_tables_begin_at_a_later_position() -> None:
    """A pair that is turned by the row's number alone is wrong in the family `later`, and only there."""
    (ignored,) = (m for m in ROPE.mistakes if m.code == "rope-tables-ignored")
    caught = {case.family for case in cases() if seen(case, as_kernel(ignored.hypotheses[0], case)).failed}
    assert caught == {"later"}


def test_cancelling_results_are_small_beside_their_terms() -> None:
    case = ROPE.make(64, "cancelling", SEED)
    right = ROPE.answers(case)[0].want[:, : D + KV].reshape(64, -1, 2, DH // 2)
    small, large = np.abs(right[:, :, 0, ::2]), np.abs(right[:, :, 1, ::2])
    assert np.all(small <= 2e-3 * large)


def test_a_right_output_and_garbage_have_no_name() -> None:
    fed = cases()
    right = [seen(case, ROPE.answers(case)[0].want.astype(np.float32)) for case in fed]
    assert not any(o.failed for o in right)
    rng = np.random.default_rng(0)
    garbage = [seen(case, rng.standard_normal(case.inputs["qkv"].shape)) for case in fed]
    assert mistakes.match_many(garbage, ROPE.mistakes) == []


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(ValueError, match="'sparse' is not fed at length 7"):
        ROPE.make(7, "sparse", SEED)


def test_inputs_cannot_be_changed_by_accident() -> None:
    case = ROPE.make(2, "normal", SEED)
    with pytest.raises(ValueError, match="read-only"):
        case.inputs["qkv"][0, 0] = 1.0
