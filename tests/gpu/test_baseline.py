"""The trusted path on a GPU against float64: what everything else is compared with and timed against."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilestep import contract, kernels, reference
from tilestep.contract import PROJECTION, STEP
from tilestep.frontends import cuda
from tilestep.judge import schedule
from tilestep.judge.compare import Compared
from tilestep.judge.expect import Expected
from tilestep.judge.in_block import LENGTHS, run_in_block
from tilestep.judge.inputs import block_inputs, compare_last
from tilestep.judge.traffic import BASELINE
from tilestep.judge.trusted import BETWEEN, LAST, Call, in_order
from tilestep.subjects import subject

CAPSTONE = STEP["online-attention"]
SEED = 6
FAMILIES = [
    "normal",
    "spread",
    "planted",
    pytest.param("negative", marks=pytest.mark.slow),
    pytest.param("future-nan", marks=pytest.mark.slow),
]


@pytest.fixture(scope="module")
def baseline(target: Any) -> Any:
    return target.build(cuda.load(kernels.path(BASELINE), CAPSTONE))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_baseline_is_float64s_at_the_profile_length(
    target: Any, baseline: Any, measured: dict[str, Any], family: str
) -> None:
    asked = subject(CAPSTONE.name)
    case = asked.make(contract.PROFILE_LENGTH, family, SEED)
    run = target.run(baseline, schedule.fast_job(CAPSTONE, case))
    assert run.ended == "finished", run.says
    assert run.findings == ()
    compared = Expected(case, asked, asked.answers(case)).compare(run.outputs, CAPSTONE).result()
    measured.setdefault("baseline_error_over_tolerance", {})[family] = compared.ratio
    assert compared.ok
    assert compared.ratio <= 0.5


@pytest.mark.parametrize("length", [1, 33, contract.PROFILE_LENGTH])
def test_every_step_of_the_trusted_path_is_float64s(target: Any, ours: Any, length: int) -> None:
    tensors = block_inputs(length, SEED)
    for call in in_order():
        made = ours.run(call, tensors, SEED)
        _assert_right(call, tensors, made)
        tensors |= made
    compared = compare_last(tensors, SEED).result()
    assert compared.ok
    assert compared.ratio <= 0.5


def _assert_right(call: Call, tensors: dict[str, Any], made: dict[str, Any]) -> None:
    case = call.case(tensors, SEED)
    if call.step is PROJECTION:
        x, weight = case["attention_output"], case["w_o"]
        product = reference.project(x, weight)
        bound = 1e-5 * np.sqrt((x * x) @ (weight * weight).T)  # of sqrt(K) roundings, with room
        first, second = (made[name] for name in call.made)
        assert np.all(np.abs(first - product) <= bound), call.makes
        assert np.all(np.abs(second - product - case["x"]) <= bound + 1e-6 * np.abs(case["x"])), call.makes
        return
    answer = subject(call.step.name).answers(case)[0]
    got = Compared(call.makes, made[call.makes], answer.want, answer.tolerance, case.judged_rows)
    assert got.result().ratio <= 0.5, call.makes


@pytest.mark.parametrize("length", LENGTHS)
def test_the_baseline_inside_the_block(target: Any, baseline: Any, ours: Any, length: int) -> None:
    found = run_in_block(CAPSTONE, lambda job: target.run(baseline, job), ours, length, SEED)
    assert found.run.ended == "finished", found.run.says
    assert found.compared is not None
    assert [tensor.tensor for tensor in found.compared.tensors] == ["attention_output", LAST]
    assert found.compared.result().ratio <= 0.5


def test_two_projections_stand_between_the_steps() -> None:
    assert [call.made for call in BETWEEN] == [("projected", "residual"), ("down_projected", LAST)]
