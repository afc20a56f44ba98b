"""The block as a chain of calls: each seam is fed what the seams before it returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tilestep import contract, reference
from tilestep.judge import schedule
from tilestep.judge.compare import Array, Compared, ComparedCase
from tilestep.judge.diagnose import Seen
from tilestep.judge.expect import Expected
from tilestep.judge.inputs import block_inputs, compare_last
from tilestep.judge.trial import Trial
from tilestep.judge.trusted import FAMILY, LAST, MAKER, Call, TrustedKernels
from tilestep.program import Run
from tilestep.subjects import subject

# What stands in on a CPU for a step that is not handed in, and for those that have no seam.
REFERENCE: Mapping[str, Callable[[Mapping[str, Array]], Array]] = {
    "normed": lambda t: reference.rms_norm(t["x"], t["norm_weight"]),
    "qkv": lambda t: reference.project(t["normed"], t["w_qkv"]),
    "qkv_rotated": lambda t: reference.rope(t["qkv"], t["rope_cos"], t["rope_sin"]),
    "attention_output": lambda t: reference.attention(t["qkv_rotated"]),
    "projected": lambda t: reference.project(t["attention_output"], t["w_o"]),
    "residual": lambda t: t["x"].astype(np.float64) + t["projected"],
    "normed_2": lambda t: reference.rms_norm(t["residual"], t["norm_2_weight"]),
    "activated": lambda t: reference.swiglu(t["normed_2"], t["w_gate"], t["w_up"]),
    LAST: lambda t: t["residual"].astype(np.float64) + reference.project(t["activated"], t["w_down"]),
}


@dataclass
class Chain:
    """The block at one length: the runs in order, and the tensors that were compared up to a wrong one.

    It ends early at a run that does not finish and at a wrong tensor: what would follow has no meaning.
    """

    length: int
    runs: list[tuple[Trial, Run]] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)

    @property
    def case(self) -> ComparedCase:
        return ComparedCase(self.length, FAMILY, tuple(self.compared))


def run_block(
    trials: Mapping[str, Trial], length: int, seed: int, *, checked: bool, ours: TrustedKernels | None = None
) -> Chain:
    """Runs the block once: the seams of `trials`, by step; the others by our kernels or, without, float64."""
    chain = Chain(length)
    tensors = block_inputs(length, seed)
    for name in (tensor.name for tensor in contract.BLOCK_TENSORS[1:]):
        call = MAKER[name]
        if call.step.name in trials:
            made = _run_call(chain, call, trials[call.step.name], tensors, checked)
            if made is None:
                return chain
            tensors[name] = made
        elif ours is None:
            with np.errstate(all="ignore"):
                tensors[name] = REFERENCE[name](tensors).astype(np.float32)
        elif name not in tensors:  # one of our kernels makes two of them
            tensors |= ours.run(call, tensors, seed)
    chain.compared.append(compare_last(tensors, seed))
    return chain


def _run_call(
    chain: Chain, call: Call, trial: Trial, tensors: Mapping[str, Array], checked: bool
) -> Array | None:
    """What a call returned; None if it did not finish or is wrong, where the chain ends."""
    case = call.case(tensors, trial.seed)
    job = (
        schedule.checked_job(trial.step, case, "forward") if checked else schedule.fast_job(trial.step, case)
    )
    run = trial.run(job)
    chain.runs.append((trial, run))
    if run.ended != "finished":
        return None
    asked = subject(call.step.name)
    written = Expected(case, asked, asked.answers(case)).written(run.outputs, trial.step)
    chain.seen.append(Seen(Expected(case, asked, ()), written))
    compared = replace(written[0], tensor=call.makes)
    chain.compared.append(compared)
    return None if compared.wrong.any() else compared.got
