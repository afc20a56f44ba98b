"""The block's sizes, its lengths, and what is planted."""

from __future__ import annotations

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
FREE_VARIABLE_BYTES = 16384  # of a module's own __device__ variables, at any step: counters, tables

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
