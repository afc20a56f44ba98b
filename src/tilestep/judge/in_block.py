"""A submission's attention inside the whole block, between our own kernels on the same target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tilestep.contract import Step
from tilestep.judge import schedule
from tilestep.judge.compare import Array, Compared, ComparedCase
from tilestep.judge.expect import Expected
from tilestep.judge.inputs import block_inputs, compare_last
from tilestep.judge.trusted import FAMILY, LAST, MAKER, TrustedFailed, TrustedKernels, in_order
from tilestep.program import Job, Run
from tilestep.subjects import subject
from tilestep.subjects.attention.cases import AttentionCase, planted

LENGTHS = (1, 41, 97)  # one row; the second planted token last; four tiles, the last with a single key

_PACKED = "qkv_rotated"
_ATTENTION = MAKER["attention_output"]
_AT = in_order().index(_ATTENTION)
_BEFORE, _AFTER = in_order()[:_AT], in_order()[_AT + 1 :]


@dataclass(frozen=True)
class InBlock:
    """The block with a submission's attention. `compared` is None where its run did not finish."""

    run: Run
    expected: Expected
    compared: ComparedCase | None


def run_in_block(
    step: Step, run: Callable[[Job], Run], ours: TrustedKernels, length: int, seed: int
) -> InBlock:
    """Runs the block from x to block_output: `run` for its attention, our kernels for the rest.

    The planted tokens are written into Q and K after RoPE. The attention output is compared with float64 from
    the packed tensor that was fed, the block's output with float64 from the right attention output. Raises
    TrustedFailed where the attention output is right and our kernels behind it went wrong.
    """
    tensors = block_inputs(length, seed)
    for call in _BEFORE:
        tensors |= ours.run(call, tensors, seed)
    tensors[_PACKED] = planted(tensors[_PACKED], seed)
    case = _case(step, tensors, seed)
    asked = subject(step.name)
    expected = Expected(case, asked, asked.answers(case))
    ended = run(schedule.fast_job(step, case))
    if ended.ended != "finished":
        return InBlock(ended, expected, None)
    tensors |= _ATTENTION.named(ended.outputs)
    for call in _AFTER:
        tensors |= ours.run(call, tensors, seed)
    return InBlock(ended, expected, _compare(expected, tensors))


def _case(step: Step, tensors: Mapping[str, Array], seed: int) -> AttentionCase:
    fed = _ATTENTION.case(tensors, seed)
    return AttentionCase(
        step.name, fed.length, FAMILY, seed, fed.sizes, fed.inputs, fed.judged_rows, fed.context
    )


def _compare(expected: Expected, tensors: Mapping[str, Array]) -> ComparedCase:
    """Attention's output first, the block's second."""
    case = expected.case
    compared = tuple(
        Compared(answer.tensor, tensors[answer.tensor], answer.want, answer.tolerance, expected.rows)
        for answer in expected.answers
    )
    if not compared[0].wrong.any() and compare_last(tensors, case.seed).wrong.any():
        raise TrustedFailed(f"our kernels behind the attention made a wrong {LAST} at T = {case.length}")
    return ComparedCase(case.length, FAMILY, compared)
