"""Both paths, written once: constants, tensors, steps, seams, lengths and gates.

Everything that a submission, the judge or the docs state about the block is derived from this package; the
C++ header that every submission sees is `header()`.
"""

from tilestep.contract.constants import (
    DH,
    FREE_VARIABLE_BYTES,
    GROUP,
    HKV,
    HQ,
    KERNEL_CONSTANTS,
    KV,
    LENGTHS,
    PLANTED_TOKENS,
    PLANTED_VALUE,
    PROFILE_LENGTH,
    QKV_OUT,
    QUERY_TILE,
    RMS_EPS,
    ROPE_THETA,
    D,
    F,
)
from tilestep.contract.header import header
from tilestep.contract.seams import Parameter, Seam
from tilestep.contract.steps import PROJECTION, STEP, STEPS, Step
from tilestep.contract.tensors import (
    BLOCK_TENSORS,
    PACKED_REGIONS,
    REDUCTION_TENSORS,
    TENSOR,
    TENSORS,
    WEIGHTS,
    Position,
    Region,
    Tensor,
)

__all__ = [
    "BLOCK_TENSORS",
    "DH",
    "FREE_VARIABLE_BYTES",
    "GROUP",
    "HKV",
    "HQ",
    "KERNEL_CONSTANTS",
    "KV",
    "LENGTHS",
    "PACKED_REGIONS",
    "PLANTED_TOKENS",
    "PLANTED_VALUE",
    "PROFILE_LENGTH",
    "PROJECTION",
    "QKV_OUT",
    "QUERY_TILE",
    "REDUCTION_TENSORS",
    "RMS_EPS",
    "ROPE_THETA",
    "STEP",
    "STEPS",
    "TENSOR",
    "TENSORS",
    "WEIGHTS",
    "D",
    "F",
    "Parameter",
    "Position",
    "Region",
    "Seam",
    "Step",
    "Tensor",
    "header",
]
