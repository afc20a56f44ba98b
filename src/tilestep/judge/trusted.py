"""Our own kernels of the block: they stand where nobody hands a kernel in, so that a block is whole."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from tilestep import contract, kernels
from tilestep.contract import PROJECTION, STEP, Step
from tilestep.frontends import cuda
from tilestep.judge import schedule
from tilestep.judge.compare import Array
from tilestep.program import Job, SubmissionError
from tilestep.subjects import Case
from tilestep.targets.protocol import Built, Target

FAMILY = "block"
LAST = contract.BLOCK_TENSORS[-1].name

KERNELS: Mapping[str, str] = {
    "rmsnorm": "rmsnorm/03_warp.cu",
    "qkv-projection": "qkv-projection/02_tiled.cu",
    "rope": "rope/02_vectorised.cu",
    "causal-attention": "attention/03_online.cu",
    "swiglu": "swiglu/02_tiled.cu",
    PROJECTION.name: f"{kernels.BETWEEN}/01_projection.cu",
}


class TrustedFailed(Exception):  # noqa: N818
    """A kernel of ours did not do what it must: our fault, never the submission's."""


@dataclass(frozen=True)
class Call:
    """One call of a seam in the block: the step, and which tensors of the block it works on.

    `renamed` maps the names of the step's own tensors, in and out, to other tensors of the block.
    """

    step: Step
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def makes(self) -> str:
        """The first tensor of the block that it makes."""
        return self._block_name(self.step.output)

    @property
    def made(self) -> tuple[str, ...]:
        """Every tensor that it makes."""
        return tuple(self._block_name(parameter.tensor) for parameter in self.step.seam.outputs)

    def case(self, tensors: Mapping[str, Array], seed: int) -> Case:
        """The call's input out of the block's tensors so far."""
        fed = [p.fed for p in self.step.seam.pointers if p.role != "out"]
        inputs = {name: np.atleast_2d(tensors[self._block_name(name)]) for name in fed}
        length = tensors["x"].shape[0]
        sizes = {"T": length, "K": inputs[fed[0]].shape[1]}
        sizes = {parameter.name: sizes[parameter.name] for parameter in self.step.seam.sizes}
        judged = np.ones(length, dtype=bool)
        return Case(self.step.name, length, FAMILY, seed, sizes, inputs, judged, tensors)

    def named(self, outputs: Mapping[str, Array]) -> dict[str, Array]:
        """A run's outputs by the block's names of them."""
        return {self._block_name(p.tensor): outputs[p.name] for p in self.step.seam.outputs}

    def _block_name(self, tensor: str) -> str:
        return self.renamed.get(tensor, tensor)


# The seams of the path, in the order of the block. The two attention steps have one; which of their gates is
# met is not asked here.
CALLS: tuple[Call, ...] = (
    Call(STEP["rmsnorm"]),
    Call(STEP["qkv-projection"]),
    Call(STEP["rope"]),
    Call(STEP["causal-attention"]),
    Call(STEP["rmsnorm"], {"x": "residual", "norm_weight": "norm_2_weight", "normed": "normed_2"}),
    Call(STEP["swiglu"]),
)

# What stands between them. The last product alone is no tensor of the block: only its sum is.
_DOWN = {"attention_output": "activated", "w_o": "w_down", "x": "residual"}
BETWEEN: tuple[Call, ...] = (
    Call(PROJECTION),
    Call(PROJECTION, {**_DOWN, "projected": "down_projected", "residual": LAST}),
)

# Who makes a tensor of the block.
MAKER: Mapping[str, Call] = {name: call for call in (*CALLS, *BETWEEN) for name in call.made}


def in_order() -> tuple[Call, ...]:
    """Every call of the block, in the order in which it runs."""
    makers = (MAKER[tensor.name] for tensor in contract.BLOCK_TENSORS[1:])
    found: list[Call] = []
    for call in makers:
        if call not in found:
            found.append(call)
    return tuple(found)


class TrustedKernels:
    """Our kernels on a target, each built when it is first asked for; safe in threads."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._built: dict[str, Built] = {}
        self._lock = threading.Lock()

    def build_all(self, steps: Iterable[str] = KERNELS) -> None:
        """Builds what is still missing of these steps, side by side."""
        with self._lock, ThreadPoolExecutor(max_workers=len(KERNELS)) as pool:
            missing = [step for step in steps if step not in self._built]
            self._built.update(zip(missing, pool.map(self._build, missing), strict=True))

    def built(self, step: str) -> Built:
        """Our kernel for a step of the block. Raises TrustedFailed if it does not build here."""
        with self._lock:
            if step not in self._built:
                self._built[step] = self._build(step)
            return self._built[step]

    def job(self, call: Call, tensors: Mapping[str, Array], seed: int) -> Job:
        """What a call of the block is handed."""
        return schedule.fast_job(call.step, call.case(tensors, seed), schedule.cores())

    def run(self, call: Call, tensors: Mapping[str, Array], seed: int) -> dict[str, Array]:
        """The tensors that our kernel makes in a call. Raises TrustedFailed if it does not finish."""
        run = self._target.run(self.built(call.step.name), self.job(call, tensors, seed))
        if run.ended != "finished":
            raise TrustedFailed(f"{KERNELS[call.step.name]} did not finish: {run.says}")
        return call.named(run.outputs)

    def _build(self, step: str) -> Built:
        name = KERNELS[step]
        wanted = PROJECTION if step == PROJECTION.name else STEP[step]
        try:
            return self._target.build(cuda.load(kernels.path(name), wanted))
        except SubmissionError as error:
            raise TrustedFailed(f"{name} does not build here: {error}") from error
