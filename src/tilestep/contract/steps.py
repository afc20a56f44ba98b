"""The twelve steps: what is handed in, what it must make right, and what it must beat."""

from __future__ import annotations

from dataclasses import dataclass

from tilestep.contract import seams
from tilestep.contract.seams import Seam


@dataclass(frozen=True)
class Step:
    """One step of a path. `number` counts through both paths, the Reduction path first."""

    name: str
    path: str  # reduction or block
    number: int
    title: str
    seam: Seam
    output: str  # the first tensor that the submission is answerable for
    traffic_gate: float | None = None  # K/V bytes of the baseline over the submission's, at PROFILE_LENGTH
    speed_gate: float | None = None  # lower 95 % bound of the speedup over the baseline
    launches: int | None = None  # exactly so many, where the step asks for it
    scratch_bytes_per_token: int = 4096  # device memory that a seam may ask for, per unit of length

    @property
    def kernels(self) -> str:
        """The folder of its kernels: the two attention steps share one."""
        return "attention" if self.seam is seams.ATTENTION else self.name

    @property
    def length_name(self) -> str:
        """What the length of a case is: the number of tokens, or of columns."""
        return "T" if self.path == "block" else "columns"


def _reduction(number: int, name: str, title: str, seam: Seam, output: str) -> Step:
    return Step(name, "reduction", number, title, seam, output)


STEPS: tuple[Step, ...] = (
    _reduction(1, "block-sum", "Sum of a row: the block's tree", seams.BLOCK_SUM, "sums"),
    _reduction(2, "block-max", "Maximum of a row", seams.BLOCK_MAX, "maxima"),
    _reduction(3, "warp-reductions", "Sum and maximum by shuffles", seams.WARP_REDUCTIONS, "sums"),
    _reduction(4, "stable-softmax", "Softmax that cannot overflow", seams.STABLE_SOFTMAX, "probabilities"),
    _reduction(5, "block-softmax", "Softmax by a whole block", seams.BLOCK_SOFTMAX, "probabilities"),
    _reduction(6, "online-softmax", "Softmax in one pass", seams.ONLINE_SOFTMAX, "probabilities"),
    Step("rmsnorm", "block", 7, "RMSNorm", seams.RMS_NORM, output="normed"),
    Step("swiglu", "block", 8, "SwiGLU", seams.SWIGLU, output="activated"),
    Step(
        "qkv-projection",
        "block",
        9,
        "Packed QKV projection",
        seams.QKV_PROJECTION,
        output="qkv",
        launches=1,
    ),
    Step("rope", "block", 10, "RoPE in place", seams.ROPE, output="qkv_rotated"),
    Step(
        "causal-attention",
        "block",
        11,
        "Causal GQA attention, correct first",
        seams.ATTENTION,
        output="attention_output",
    ),
    Step(
        "online-attention",
        "block",
        12,
        "Online attention, the capstone",
        seams.ATTENTION,
        output="attention_output",
        traffic_gate=16.0,
        speed_gate=1.8,
        scratch_bytes_per_token=0,
    ),
)
STEP: dict[str, Step] = {step.name: step for step in STEPS}

# What stands between the steps: nobody is asked for it, and our kernel for it stands in the folder "block".
PROJECTION = Step("projection", "block", 0, "Projection and residual", seams.PROJECTION, output="projected")
