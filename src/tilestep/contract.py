"""The decoder block, written once: constants, tensors, steps, seams, lengths and gates.

Everything that a submission, the judge or the docs state about the block is derived from this module; the
C++ header that every submission sees is `header()`.
"""

from __future__ import annotations

from dataclasses import dataclass

D = 512  # model width
HQ = 8  # query heads
HKV = 2  # key/value heads
DH = 64  # head width
KV = HKV * DH  # width of all keys, or of all values
QKV_OUT = D + 2 * KV  # width of the packed tensor: Q, then K, then V
GROUP = HQ // HKV  # query heads that share one KV head
F = 1408  # SwiGLU width
RMS_EPS = 1e-5  # added to the mean square, inside the root
ROPE_THETA = 10000.0

PROFILE_LENGTH = 2048
LENGTHS = (1, 2, 31, 32, 33, 41, 64, 65, 97, 128)  # judged at every value, with every checker
QUERY_TILE = 32  # rows that the capstone keeps resident

PLANTED_TOKENS = (0, 40)
PLANTED_VALUE = (
    4.0  # magnitude of every planted element of Q and K: the matched score is DH * 16 / sqrt(DH) = 128
)

KERNEL_CONSTANTS: dict[str, int] = {
    "D": D,
    "HQ": HQ,
    "HKV": HKV,
    "DH": DH,
    "KV": KV,
    "QKV_OUT": QKV_OUT,
    "F": F,
}


@dataclass(frozen=True)
class Region:
    """Columns [begin, end) of a packed tensor, under a name: Q, K or V."""

    name: str
    begin: int
    end: int


PACKED_REGIONS = (Region("Q", 0, D), Region("K", D, D + KV), Region("V", D + KV, QKV_OUT))


@dataclass(frozen=True)
class Tensor:
    """One tensor of the block: row-major float32, T rows of `width` values."""

    name: str
    width: int
    says: str
    regions: tuple[Region, ...] = ()

    def position(self, column: int) -> dict[str, int]:
        """The head and dim of a column, for tensors that are made of heads; else only the dim."""
        if self.name == "attention_output":
            return {"head": column // DH, "dim": column % DH}
        return {"dim": column}


# In judging order: the earliest wrong one is named.
TENSORS: tuple[Tensor, ...] = (
    Tensor("x", D, "input of the block"),
    Tensor("normed", D, "RMSNorm of x"),
    Tensor("qkv", QKV_OUT, "packed projection", PACKED_REGIONS),
    Tensor("qkv_rotated", QKV_OUT, "after RoPE in place", PACKED_REGIONS),
    Tensor("attention_output", D, "causal attention, head h at column h * DH"),
    Tensor("projected", D, "output projection"),
    Tensor("residual", D, "x + projected"),
    Tensor("normed_2", D, "RMSNorm of residual"),
    Tensor("activated", F, "silu(gate) * up"),
    Tensor("block_output", D, "residual + down projection"),
)
TENSOR: dict[str, Tensor] = {tensor.name: tensor for tensor in TENSORS}

# Weights, row-major [out, in] as PyTorch stores them: y = x W^T. RMSNorm weights are one row.
WEIGHTS: dict[str, tuple[int, ...]] = {
    "norm_weight": (D,),
    "w_qkv": (QKV_OUT, D),
    "w_o": (D, D),
    "norm_2_weight": (D,),
    "w_gate": (F, D),
    "w_up": (F, D),
    "w_down": (D, F),
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a seam. `role` is in, out, inout (device pointers) or size (the int T)."""

    name: str
    role: str
    tensor: str = ""  # what the pointer holds: a tensor, a weight, or rope_cos / rope_sin

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


@dataclass(frozen=True)
class Step:
    """One step of the path: what is handed in, which tensor it must make right, and what it must beat."""

    name: str
    stage: int
    title: str
    seam: Seam
    output: str  # the first tensor that the submission is answerable for
    traffic_gate: float | None = None  # K/V bytes of the baseline over the submission's, at PROFILE_LENGTH
    speed_gate: float | None = None  # lower 95 % bound of the speedup over the baseline
    launches: int | None = None  # exactly so many, where the step asks for it
    scratch_bytes_per_token: int = 4096  # device memory that a seam may ask for, per row

    @property
    def judged(self) -> bool:
        return self.output == "attention_output"


_ATTENTION = Seam(
    "runCausalAttention",
    (
        Parameter("qkv", "in", "qkv_rotated"),
        Parameter("attnOut", "out", "attention_output"),
        Parameter("T", "size"),
    ),
)

STEPS: tuple[Step, ...] = (
    Step(
        "rmsnorm",
        1,
        "RMSNorm",
        Seam(
            "runRmsNorm",
            (
                Parameter("x", "in", "x"),
                Parameter("weight", "in", "norm_weight"),
                Parameter("y", "out", "normed"),
                Parameter("T", "size"),
            ),
        ),
        output="normed",
    ),
    Step(
        "swiglu",
        2,
        "SwiGLU",
        Seam(
            "runSwiGlu",
            (
                Parameter("x", "in", "normed_2"),
                Parameter("wGate", "in", "w_gate"),
                Parameter("wUp", "in", "w_up"),
                Parameter("activated", "out", "activated"),
                Parameter("T", "size"),
            ),
        ),
        output="activated",
    ),
    Step(
        "qkv-projection",
        3,
        "Packed QKV projection",
        Seam(
            "runQkvProjection",
            (
                Parameter("x", "in", "normed"),
                Parameter("wQkv", "in", "w_qkv"),
                Parameter("qkv", "out", "qkv"),
                Parameter("T", "size"),
            ),
        ),
        output="qkv",
        launches=1,
    ),
    Step(
        "rope",
        4,
        "RoPE in place",
        Seam(
            "runRope",
            (
                Parameter("qkv", "inout", "qkv_rotated"),
                Parameter("cosTable", "in", "rope_cos"),
                Parameter("sinTable", "in", "rope_sin"),
                Parameter("T", "size"),
            ),
        ),
        output="qkv_rotated",
    ),
    Step("causal-attention", 5, "Causal GQA attention, correct first", _ATTENTION, output="attention_output"),
    Step(
        "online-attention",
        6,
        "Online attention, the capstone",
        _ATTENTION,
        output="attention_output",
        traffic_gate=16.0,
        speed_gate=1.8,
        scratch_bytes_per_token=0,
    ),
)
STEP: dict[str, Step] = {step.name: step for step in STEPS}


def header() -> str:
    """The C++ header that is included before the first line of every submission."""
    constants = "\n".join(f"constexpr int {name} = {value};" for name, value in KERNEL_CONSTANTS.items())
    return (
        "// Made by tilestep from its contract. Included before every submission.\n"
        "#pragma once\n"
        f"{constants}\n"
        f"constexpr float RMS_EPS = {RMS_EPS!r}f;\n"
    )
