"""How fast causal attention can be on a card: the bytes that must move, and the products that must be made.

Both floors stand on what the card states, not on what it reaches: nobody gets to them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilestep import contract
from tilestep.bench.contenders import BF16, FP32
from tilestep.targets.protocol import Card

VALUE_BYTES = {FP32: 4, BF16: 2}

# Of one multiprocessor in one cycle, by compute capability, from the architectures' white papers: fp32 lanes,
# each of which makes one multiply-add; and dense bf16 multiply-adds of the tensor cores, summed in fp32.
_FP32_LANES = {
    (7, 0): 64,
    (7, 2): 64,
    (7, 5): 64,
    (8, 0): 64,
    (8, 6): 128,
    (8, 7): 128,
    (8, 9): 128,
    (9, 0): 128,
    (10, 0): 128,
    (10, 3): 128,
    (12, 0): 128,
}
_BF16_LANES = {(8, 0): 1024, (9, 0): 2048, (10, 0): 4096}


@dataclass(frozen=True)
class Peaks:
    """What a card states: bytes a second of its memory, flops a second; 0 where that is unknown."""

    bandwidth: float
    fp32: float
    bf16: float

    def flops(self, precision: str) -> float:
        return {FP32: self.fp32, BF16: self.bf16}[precision]


@dataclass(frozen=True)
class Floor:
    """The least time in milliseconds, and what sets it: bytes, flops, or unknown (then `ms` is 0)."""

    ms: float
    bound: str


def peaks(card: Card) -> Peaks:
    """The card's peaks at its highest clock: fp32 on the CUDA cores, bf16 on the tensor cores."""
    cycles = card.multiprocessors * card.highest_clock * 1e6
    return Peaks(
        bandwidth=card.bandwidth,
        fp32=2.0 * cycles * _FP32_LANES.get(card.capability, 0),
        bf16=2.0 * cycles * _BF16_LANES.get(card.capability, 0),
    )


def attention_flops(length: int) -> int:
    """Multiply-adds, counted as two, of both products for the keys that causal attention may see."""
    pairs = length * (length + 1) // 2
    return 2 * 2 * pairs * contract.DH * contract.HQ


def attention_bytes(length: int, precision: str) -> int:
    """The packed tensor read once, and the output written once."""
    return length * (contract.QKV_OUT + contract.D) * VALUE_BYTES[precision]


def floor(length: int, precision: str, card: Peaks) -> Floor:
    """The least time that attention can take at a length."""
    moved = attention_bytes(length, precision) / card.bandwidth if card.bandwidth else 0.0
    computed = attention_flops(length) / card.flops(precision) if card.flops(precision) else 0.0
    if not moved and not computed:
        return Floor(0.0, "unknown")
    return Floor(1e3 * max(moved, computed), "bytes" if moved >= computed else "flops")
