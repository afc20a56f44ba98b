"""The tensors of both paths in judging order, and the weights."""

from __future__ import annotations

from dataclasses import dataclass

from tilestep.contract.constants import DH, KV, QKV_OUT, D, F


@dataclass(frozen=True)
class Region:
    """Columns [begin, end) of a packed tensor, under a name: Q, K or V."""

    name: str
    begin: int
    end: int


PACKED_REGIONS = (Region("Q", 0, D), Region("K", D, D + KV), Region("V", D + KV, QKV_OUT))


@dataclass(frozen=True)
class Position:
    """Where a column of a tensor is: its region and head, where the tensor has them, and the place in those.

    `dim` counts within the head, or within the row where there is no head. `axis` is what a column is called;
    "" for a tensor with one value a row.
    """

    dim: int
    head: int | None = None
    region: str = ""
    axis: str = "dim"


@dataclass(frozen=True)
class Tensor:
    """One tensor, row-major float32: `width` values a row, 0 where the case decides it."""

    name: str
    width: int
    says: str
    regions: tuple[Region, ...] = ()
    heads: bool = False  # whether its columns, or those of its regions, are heads of DH
    axis: str = "dim"  # what a column is called; "" where a row is one value

    def position(self, column: int) -> Position:
        """Where a column is, in the words of the field."""
        region = next((r for r in self.regions if r.begin <= column < r.end), None)
        inside = column - region.begin if region else column
        name = region.name if region else ""
        if self.heads:
            return Position(inside % DH, inside // DH, name, self.axis)
        return Position(inside, None, name, self.axis)


# In judging order: the earliest wrong one is named.
BLOCK_TENSORS: tuple[Tensor, ...] = (
    Tensor("x", D, "input of the block"),
    Tensor("normed", D, "RMSNorm of x"),
    Tensor("qkv", QKV_OUT, "packed projection", PACKED_REGIONS, heads=True),
    Tensor("qkv_rotated", QKV_OUT, "after RoPE in place", PACKED_REGIONS, heads=True),
    Tensor("attention_output", D, "causal attention, head h at column h * DH", heads=True),
    Tensor("projected", D, "output projection"),
    Tensor("residual", D, "x + projected"),
    Tensor("normed_2", D, "RMSNorm of residual"),
    Tensor("activated", F, "silu(gate) * up"),
    Tensor("block_output", D, "residual + down projection"),
)
REDUCTION_TENSORS: tuple[Tensor, ...] = (
    Tensor("matrix", 0, "rows to reduce", axis="column"),
    Tensor("sums", 1, "sum of each row", axis=""),
    Tensor("maxima", 1, "largest value of each row", axis=""),
    Tensor("probabilities", 0, "softmax of each row", axis="column"),
)
TENSORS: tuple[Tensor, ...] = BLOCK_TENSORS + REDUCTION_TENSORS
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
