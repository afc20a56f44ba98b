"""K and V bytes read from global memory, against what the cooperative baseline reads."""

from __future__ import annotations

from tilestep import contract
from tilestep.contract import Step
from tilestep.judge.verdict import KvTraffic
from tilestep.program import Traffic

BASELINE = "attention/02_cooperative.cu"
FLOAT_BYTES = 4


def baseline_kv_bytes(length: int) -> int:
    """Bytes of K and V together that the baseline's threads load at a length.

    It walks a KV head once for each query row and head: row i reads i + 1 rows of DH floats from K, and again
    from V. The tests count the kernel itself and compare.
    """
    rows = length * (length + 1) // 2
    return 2 * rows * contract.HQ * contract.DH * FLOAT_BYTES


def judge_traffic(step: Step, length: int, traffic: Traffic) -> KvTraffic:
    """The K and V bytes of a counted run. They are K's and V's column ranges of the packed tensor."""
    packed = next(p.name for p in step.seam.pointers if p.tensor == "qkv_rotated")
    return KvTraffic(
        length=length,
        k_bytes=traffic.read.get((packed, "K"), 0),
        v_bytes=traffic.read.get((packed, "V"), 0),
        baseline_kv_bytes=baseline_kv_bytes(length),
        gate=step.traffic_gate,
    )
