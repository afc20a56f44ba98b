"""Our own kernels of the block, on the emulator in place of a GPU: each right, and right together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilestep import contract, kernels, reference, tolerance
from tilestep.frontends import cuda
from tilestep.judge import judge_block, schedule
from tilestep.judge.decide import UNCHECKED
from tilestep.judge.in_block import LENGTHS, run_in_block
from tilestep.judge.inputs import block_inputs
from tilestep.judge.trusted import BETWEEN, LAST, MAKER, TrustedFailed, TrustedKernels, in_order
from tilestep.program import Job, Run
from tilestep.subjects import void
from tilestep.subjects.attention import cases
from tilestep.subjects.weights import weights_in_double
from tilestep.targets.cpu import CpuTarget
from tilestep.targets.protocol import Built

STEP = contract.STEP["online-attention"]
SEED = 8


class WithoutCheckers(CpuTarget):
    """As a GPU is: values only."""

    checks = False


@pytest.fixture(scope="module")
def ours() -> TrustedKernels:
    target = WithoutCheckers()
    trusted = TrustedKernels(target)
    trusted.build_all()
    return trusted


def attention(name: str) -> tuple[CpuTarget, Built]:
    target = WithoutCheckers()
    return target, target.build(cuda.load(kernels.path(name), STEP))


def test_the_projection_between_the_steps_has_no_finding() -> None:
    target = CpuTarget()
    trusted = TrustedKernels(target)
    rng = np.random.default_rng(1)
    for length, call in ((1, BETWEEN[0]), (67, BETWEEN[1])):
        tensors = block_inputs(length, SEED)
        for name, width in (
            ("attention_output", contract.D),
            ("residual", contract.D),
            ("activated", contract.F),
        ):
            tensors[name] = rng.standard_normal((length, width), dtype=np.float32)
        case = call.case(tensors, SEED)
        built = trusted.built(call.step.name)
        run = target.run(built, schedule.checked_job(call.step, case, "forward"))
        assert run.ended == "finished", run.says
        assert run.findings == ()
        x, weight = case["attention_output"], case["w_o"]
        product = reference.project(x, weight)
        made = call.named(run.outputs)
        bound = 1e-6 * np.sqrt((x * x) @ (weight * weight).T) * 8
        assert np.all(np.abs(made[call.made[0]] - product) <= bound)
        assert np.all(np.abs(made[call.made[1]] - product - case["x"]) <= bound + 1e-6 * np.abs(case["x"]))


def test_every_tensor_of_the_block_has_a_maker_in_order() -> None:
    known = set(block_inputs(1, SEED))
    for call in in_order():
        with_known = dict.fromkeys(known, np.zeros((1, contract.D), dtype=np.float32))
        assert call.case(with_known, SEED).inputs  # KeyError for a tensor that nobody has made
        known |= set(call.made)
    assert {tensor.name for tensor in contract.BLOCK_TENSORS} <= known
    assert set(MAKER) >= {tensor.name for tensor in contract.BLOCK_TENSORS[1:]}


def test_our_block_is_float64s(ours: TrustedKernels) -> None:
    length = 33
    tensors = block_inputs(length, SEED)
    for call in in_order():
        tensors |= ours.run(call, tensors, SEED)
    want = reference.block(tensors["x"], weights_in_double(SEED))
    for tensor in contract.BLOCK_TENSORS:
        size = np.abs(want[tensor.name]).max()
        assert np.abs(tensors[tensor.name] - want[tensor.name]).max() <= 2e-5 * size, tensor.name


@pytest.mark.parametrize("length", LENGTHS)
def test_a_right_attention_inside_the_block(ours: TrustedKernels, length: int) -> None:
    target, built = attention("attention/02_cooperative.cu")
    found = run_in_block(STEP, lambda job: target.run(built, job), ours, length, SEED)
    assert found.compared is not None
    assert [tensor.tensor for tensor in found.compared.tensors] == ["attention_output", LAST]
    assert found.compared.result().ratio <= 0.25
    case = found.expected.case
    assert isinstance(case, cases.AttentionCase)
    q, k, _ = reference.split_heads(case.qkv)
    for token in contract.PLANTED_TOKENS:
        if token < length:
            assert np.all(np.abs(case.qkv[token, : contract.D + contract.KV]) == contract.PLANTED_VALUE)
            assert q[0, token] @ k[0, token] / 8 == 128
    assert void(case, found.expected.answers, cases.impostors(case)) == []


def test_a_wrong_attention_is_named_before_the_block_behind_it(ours: TrustedKernels) -> None:
    target, built = attention("attention/03_online.cu")

    def spoilt(job: Job) -> Run:
        run = target.run(built, job)
        outputs = {name: output.copy() for name, output in run.outputs.items()}
        outputs["attnOut"][3, 70] += 1.0
        return replace(run, outputs=outputs)

    found = run_in_block(STEP, spoilt, ours, 41, SEED)
    assert found.compared is not None
    assert [tensor.wrong.any() for tensor in found.compared.tensors] == [True, True]
    first = found.compared.first_wrong()
    assert first is not None
    assert (first.tensor, first.row, first.head, first.dim) == ("attention_output", 3, 1, 6)


def test_a_run_that_does_not_finish_is_handed_on(ours: TrustedKernels) -> None:
    ended = Run("crashed", "an illegal address")
    found = run_in_block(STEP, lambda _: ended, ours, 1, SEED)
    assert found.run is ended
    assert found.compared is None


def test_a_fault_of_our_own_is_not_the_submissions(
    ours: TrustedKernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, built = attention("attention/03_online.cu")
    honest = ours.run

    def spoilt(call, tensors, seed):  # type: ignore[no-untyped-def]
        return {
            name: made * 1.5 if name == LAST else made for name, made in honest(call, tensors, seed).items()
        }

    monkeypatch.setattr(ours, "run", spoilt)
    with pytest.raises(TrustedFailed, match="behind the attention"):
        run_in_block(STEP, lambda job: target.run(built, job), ours, 1, SEED)


def test_a_block_without_checkers_is_our_kernels_and_yours(tmp_path: Path) -> None:
    files = [kernels.path("rmsnorm/01_serial.cu"), kernels.path("swiglu/01_naive.cu")]
    verdict = judge_block(files, seed=4, lengths=(1, 33), target=WithoutCheckers())
    assert verdict.outcome == "passed", verdict.says
    assert {case.length for case in verdict.cases} == {1, 33}
    assert "our kernels: qkv-projection, rope, causal-attention" in verdict.evidence
    assert not any(line.startswith("reference") for line in verdict.evidence)
    assert UNCHECKED in verdict.evidence
    assert "finding" not in verdict.says

    wrong = tmp_path / "swiglu.cu"
    text = files[1].read_text(encoding="utf-8")
    assert "expf(-" in text
    wrong.write_text(text.replace("expf(-", "expf("), encoding="utf-8")
    verdict = judge_block([files[0], wrong], seed=4, lengths=(33,), target=WithoutCheckers())
    assert verdict.outcome == "wrong"
    assert verdict.first_wrong is not None
    assert verdict.first_wrong.tensor == "activated"
    assert verdict.submission.file == str(wrong)


def test_the_tail_within_what_fp32_may_do(ours: TrustedKernels) -> None:
    """Our kernels behind an exact attention output stay far below the tail's bounds."""
    length = 65
    tensors = block_inputs(length, SEED)
    right = reference.block(tensors["x"], weights_in_double(SEED))
    tensors["attention_output"] = right["attention_output"].astype(np.float32)
    calls = in_order()
    for call in calls[calls.index(MAKER["attention_output"]) + 1 :]:
        tensors |= ours.run(call, tensors, SEED)
    x, weights = tensors["x"], weights_in_double(SEED)
    none = np.zeros((length, contract.D))
    want = reference.tail(x, tensors["attention_output"], weights)
    bounds = tolerance.tail(x, tensors["attention_output"], weights, none)
    worst = {name: np.max(np.abs(tensors[name] - want[name]) / bound) for name, bound in bounds.items()}
    assert worst[LAST] <= 0.25
    assert max(worst.values()) <= 0.5
