"""The block as a chain of calls: each seam is fed what the seams before it returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tilestep import contract, reference, tolerance
from tilestep.contract import STEP
from tilestep.judge import schedule
from tilestep.judge.compare import Array, Compared, ComparedCase
from tilestep.judge.diagnose import Seen
from tilestep.judge.expect import Expected
from tilestep.judge.trial import Trial
from tilestep.program import Run
from tilestep.subjects import Case, subject
from tilestep.subjects.weights import seeded_weights, weights_in_double

FAMILY = "block"
LAST = contract.BLOCK_TENSORS[-1].name


@dataclass(frozen=True)
class Call:
    """One call of a seam in the block: the step, the tensor that it makes, and where its inputs come from.

    `renamed` maps the names of the step's own inputs to other tensors of the block.
    """

    step: str
    makes: str
    renamed: Mapping[str, str] = field(default_factory=dict)

    def case(self, tensors: Mapping[str, Array], seed: int) -> Case:
        """The call's input out of the block's tensors so far."""
        fed = [p.fed for p in STEP[self.step].seam.pointers if p.role != "out"]
        inputs = {name: np.atleast_2d(tensors[self.renamed.get(name, name)]) for name in fed}
        length = tensors["x"].shape[0]
        judged = np.ones(length, dtype=bool)
        return Case(self.step, length, FAMILY, seed, {"T": length}, inputs, judged, tensors)


# In the order of the block. The two attention steps have one seam; which of their gates is met is not asked.
CALLS: tuple[Call, ...] = (
    Call("rmsnorm", "normed"),
    Call("qkv-projection", "qkv"),
    Call("rope", "qkv_rotated"),
    Call("causal-attention", "attention_output"),
    Call("rmsnorm", "normed_2", {"x": "residual", "norm_weight": "norm_2_weight"}),
    Call("swiglu", "activated"),
)

# What stands in for a step that is not handed in, and for those that have no seam.
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


def run_block(trials: Mapping[str, Trial], length: int, seed: int, *, checked: bool) -> Chain:
    """Runs the block once: the seams of `trials`, by step, and the reference for the others."""
    chain = Chain(length)
    tensors: dict[str, Array] = _start(length, seed)
    calls = {call.makes: call for call in CALLS}
    for tensor in contract.BLOCK_TENSORS[1:]:
        call = calls.get(tensor.name)
        if call is None or call.step not in trials:
            with np.errstate(all="ignore"):
                tensors[tensor.name] = REFERENCE[tensor.name](tensors).astype(np.float32)
            continue
        made = _run_call(chain, call, trials[call.step], tensors, checked)
        if made is None:
            return chain
        tensors[tensor.name] = made
    chain.compared.append(_compare_last(tensors, seed))
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
    asked = subject(call.step)
    written = Expected(case, asked, asked.answers(case)).written(run.outputs, trial.step)
    chain.seen.append(Seen(Expected(case, asked, ()), written))
    compared = replace(written[0], tensor=call.makes)
    chain.compared.append(compared)
    return None if compared.wrong.any() else compared.got


def _compare_last(tensors: Mapping[str, Array], seed: int) -> Compared:
    """The block's output beside float64 from the attention output that was returned."""
    x, attention, weights = tensors["x"], tensors["attention_output"], weights_in_double(seed)
    want = reference.tail(x, attention, weights)[LAST]
    bound = tolerance.tail(x, attention, weights, np.zeros_like(attention, dtype=np.float64))[LAST]
    return Compared(LAST, tensors[LAST], want, bound, np.ones(x.shape[0], dtype=bool))


def _start(length: int, seed: int) -> dict[str, Array]:
    """x, the weights and the tables of the rotation, all float32."""
    x = np.random.default_rng([seed, length]).standard_normal((length, contract.D), dtype=np.float32)
    cos, sin = (table.astype(np.float32) for table in reference.rope_tables(length))
    return {"x": x, "rope_cos": cos, "rope_sin": sin, **seeded_weights(seed)}
