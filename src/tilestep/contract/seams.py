"""The host function of each step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """One parameter of a seam. `role` is in, out, inout (device pointers) or size (an int)."""

    name: str
    role: str
    tensor: str = ""  # what the pointer holds: a tensor, a weight, or rope_cos / rope_sin
    before: str = ""  # of an inout pointer: the tensor that it holds before the call

    @property
    def fed(self) -> str:
        """What the pointer holds when the seam is called."""
        return self.before or self.tensor

    @property
    def cpp_type(self) -> str:
        return {"in": "const float*", "out": "float*", "inout": "float*", "size": "int"}[self.role]


@dataclass(frozen=True)
class Seam:
    """The host function that a submission defines; it launches kernels on the pointers that it is given."""

    function: str
    parameters: tuple[Parameter, ...]

    @property
    def prototype(self) -> str:
        inside = ", ".join(f"{p.cpp_type} {p.name}" for p in self.parameters)
        return f"void {self.function}({inside})"

    @property
    def pointers(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.role != "size")

    @property
    def sizes(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.role == "size")

    @property
    def outputs(self) -> tuple[Parameter, ...]:
        """The pointers that are written: what the submission answers for."""
        return tuple(p for p in self.parameters if p.role in ("out", "inout"))


def _seam(function: str, *pointers: tuple[str, ...], sizes: tuple[str, ...]) -> Seam:
    named = tuple(Parameter(*pointer) for pointer in pointers)
    return Seam(function, (*named, *(Parameter(name, "size") for name in sizes)))


_TOKENS = ("T",)
_MATRIX = ("rows", "columns")

# All matrices are row-major. A row has at least one column, and only block-max is fed a row of nothing but
# -inf: its maximum is -inf. Elsewhere -inf may stand beside finite values; its probability is exactly 0.
BLOCK_SUM = _seam("runBlockSum", ("x", "in", "matrix"), ("sums", "out", "sums"), sizes=_MATRIX)
BLOCK_MAX = _seam("runBlockMax", ("x", "in", "matrix"), ("maxima", "out", "maxima"), sizes=_MATRIX)
WARP_REDUCTIONS = _seam(
    "runWarpReductions",
    ("x", "in", "matrix"),
    ("sums", "out", "sums"),
    ("maxima", "out", "maxima"),
    sizes=_MATRIX,
)
STABLE_SOFTMAX = _seam(
    "runStableSoftmax", ("x", "in", "matrix"), ("y", "out", "probabilities"), sizes=_MATRIX
)
BLOCK_SOFTMAX = _seam("runBlockSoftmax", ("x", "in", "matrix"), ("y", "out", "probabilities"), sizes=_MATRIX)
ONLINE_SOFTMAX = _seam(
    "runOnlineSoftmax", ("x", "in", "matrix"), ("y", "out", "probabilities"), sizes=_MATRIX
)

RMS_NORM = _seam(
    "runRmsNorm", ("x", "in", "x"), ("weight", "in", "norm_weight"), ("y", "out", "normed"), sizes=_TOKENS
)
SWIGLU = _seam(
    "runSwiGlu",
    ("x", "in", "normed_2"),
    ("wGate", "in", "w_gate"),
    ("wUp", "in", "w_up"),
    ("activated", "out", "activated"),
    sizes=_TOKENS,
)
QKV_PROJECTION = _seam(
    "runQkvProjection", ("x", "in", "normed"), ("wQkv", "in", "w_qkv"), ("qkv", "out", "qkv"), sizes=_TOKENS
)
ROPE = _seam(
    "runRope",
    ("qkv", "inout", "qkv_rotated", "qkv"),
    ("cosTable", "in", "rope_cos"),
    ("sinTable", "in", "rope_sin"),
    sizes=_TOKENS,
)
ATTENTION = _seam(
    "runCausalAttention",
    ("qkv", "in", "qkv_rotated"),
    ("attnOut", "out", "attention_output"),
    sizes=_TOKENS,
)

# No step of the path: what stands between the steps, which the judge runs itself. K is the inner dimension.
PROJECTION = _seam(
    "runProjection",
    ("x", "in", "attention_output"),
    ("weight", "in", "w_o"),
    ("residual", "in", "x"),
    ("projected", "out", "projected"),
    ("sum", "out", "residual"),
    sizes=("T", "K"),
)
