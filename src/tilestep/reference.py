"""What is right: the decoder block in float64, one function a step.

Every function takes arrays of any float type, computes in float64 and returns float64. Weights are row-major
[out, in], so a projection is `x @ W.T`. This module knows the contract and nothing of what is judged.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilestep.contract import DH, GROUP, HKV, HQ, KV, RMS_EPS, ROPE_THETA, D

Doubles = NDArray[np.float64]
Rows = NDArray[np.intp]  # indices of rows


def query_rows_at_once(T: int) -> int:
    """Rows of a block of queries: it needs only the keys up to its last row, half of the full product.

    Short sequences are cut finer, below the size at which a BLAS starts threads: beside running kernels they
    cost ten times what they gain.
    """
    return 256 if T > 128 else 32


def _double(array: ArrayLike) -> Doubles:
    return np.asarray(array, dtype=np.float64)


def rms_norm(x: ArrayLike, weight: ArrayLike) -> Doubles:
    """Root-mean-square norm of each row of x [T, n], times weight [n]; epsilon inside the root."""
    x = _double(x)
    mean_square = np.mean(x * x, axis=-1, keepdims=True)
    normed: Doubles = x / np.sqrt(mean_square + RMS_EPS) * _double(weight)
    return normed


def project(x: ArrayLike, weight: ArrayLike) -> Doubles:
    """x [T, in] times weight [out, in] transposed: [T, out]."""
    return _double(x) @ _double(weight).T


def rope_tables(T: int) -> tuple[Doubles, Doubles]:
    """Cosines and sines [T, DH / 2] of position * theta^(-2 d / DH), position = row index."""
    pairs = DH // 2
    frequency = ROPE_THETA ** (-np.arange(pairs, dtype=np.float64) / pairs)
    angle = np.arange(T, dtype=np.float64)[:, None] * frequency
    return np.cos(angle), np.sin(angle)


def rope(qkv: ArrayLike, cos: ArrayLike, sin: ArrayLike) -> Doubles:
    """qkv [T, QKV_OUT] with every Q and K head rotated; V stays.

    Half-split: dims d and d + DH / 2 of a head are a pair.
    """
    rotated = _double(qkv).copy()
    T = rotated.shape[0]
    heads = rotated[:, : D + KV].reshape(T, HQ + HKV, 2, DH // 2)
    low, high = heads[:, :, 0].copy(), heads[:, :, 1].copy()
    c, s = _double(cos)[:T, None, :], _double(sin)[:T, None, :]
    heads[:, :, 0] = low * c - high * s
    heads[:, :, 1] = high * c + low * s
    rotated[:, : D + KV] = heads.reshape(T, D + KV)
    return rotated


def softmax(x: ArrayLike) -> Doubles:
    """Each row of x [rows, columns] as probabilities; -inf has none. A row of nothing but -inf is NaN."""
    x = _double(x)
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    probabilities: Doubles = weights / weights.sum(axis=-1, keepdims=True)
    return probabilities


def split_heads(qkv: ArrayLike) -> tuple[Doubles, Doubles, Doubles]:
    """The packed tensor [T, QKV_OUT] as Q [HQ, T, DH], K [HKV, T, DH] and V [HKV, T, DH]."""
    qkv = _double(qkv)
    T = qkv.shape[0]

    def heads(begin: int, count: int) -> Doubles:
        return np.ascontiguousarray(
            qkv[:, begin : begin + count * DH].reshape(T, count, DH).transpose(1, 0, 2)
        )

    return heads(0, HQ), heads(D, HKV), heads(D + KV, HKV)


def join_heads(heads: Doubles) -> Doubles:
    """[HQ, T, DH] as rows [T, D], head h at column h * DH."""
    return np.ascontiguousarray(heads.transpose(1, 0, 2)).reshape(heads.shape[1], -1)


def attention(qkv: ArrayLike) -> Doubles:
    """Causal grouped-query attention of the packed tensor [T, QKV_OUT]: [T, D].

    A masked value has no effect: a NaN in a row of K or V reaches only the rows from that one on.
    """
    return attention_rows(qkv, np.arange(_double(qkv).shape[0]))


def attention_rows(qkv: ArrayLike, rows: Rows) -> Doubles:
    """Attention's output for some query rows only: [len(rows), D]."""
    q, k, v = split_heads(qkv)
    out = np.stack([_one_head(q[h], k[h // GROUP], v[h // GROUP], rows) for h in range(HQ)])
    return join_heads(out)


def _one_head(q: Doubles, k: Doubles, v: Doubles, rows: Rows) -> Doubles:
    """softmax(q k^T / sqrt(DH), causal) v for one head and some rows of q; q, k and v are [T, DH]."""
    # 0 * NaN is NaN, so values that are not finite stay out of the product; the rows that see them are NaN.
    finite = np.isfinite(v)
    spoilt = np.logical_or.accumulate(~finite, axis=0)
    v = np.where(finite, v, 0.0)
    out = np.empty((len(rows), DH))
    step = query_rows_at_once(q.shape[0])
    for begin in range(0, len(rows), step):
        some = rows[begin : begin + step]
        weights = causal_scores(q, k, some)
        weights -= weights.max(axis=1, keepdims=True)
        np.exp(weights, out=weights)
        out[begin : begin + step] = (weights @ v[: weights.shape[1]]) / weights.sum(axis=1, keepdims=True)
    out[spoilt[rows]] = np.nan
    return out


def causal_scores(q: Doubles, k: Doubles, rows: Rows) -> Doubles:
    """Scaled scores of these query rows with the keys up to the last of them, of one head; -inf where a key
    is later than the row."""
    end = int(rows.max()) + 1
    scores = q[rows] @ k[:end].T
    scores /= np.sqrt(DH)
    scores[np.arange(end)[None, :] > rows[:, None]] = -np.inf
    return scores


def silu(x: ArrayLike) -> Doubles:
    """x / (1 + exp(-x)), without overflow."""
    x = _double(x)
    return x * 0.5 * (1.0 + np.tanh(0.5 * x))


def swiglu(x: ArrayLike, w_gate: ArrayLike, w_up: ArrayLike) -> Doubles:
    """silu(x w_gate^T) * (x w_up^T): [T, F]."""
    return silu(project(x, w_gate)) * project(x, w_up)


def tail(x: ArrayLike, attention_output: ArrayLike, weights: Mapping[str, ArrayLike]) -> dict[str, Doubles]:
    """The block from the attention output [T, D] on: the tensors from projected to block_output."""
    projected = project(attention_output, weights["w_o"])
    residual = _double(x) + projected
    normed_2 = rms_norm(residual, weights["norm_2_weight"])
    activated = swiglu(normed_2, weights["w_gate"], weights["w_up"])
    block_output = residual + project(activated, weights["w_down"])
    return {
        "projected": projected,
        "residual": residual,
        "normed_2": normed_2,
        "activated": activated,
        "block_output": block_output,
    }


def block(x: ArrayLike, weights: Mapping[str, ArrayLike]) -> dict[str, Doubles]:
    """All ten tensors of the block for x [T, D], in judging order."""
    x = _double(x)
    normed = rms_norm(x, weights["norm_weight"])
    qkv = project(normed, weights["w_qkv"])
    qkv_rotated = rope(qkv, *rope_tables(x.shape[0]))
    attention_output = attention(qkv_rotated)
    head = {
        "x": x,
        "normed": normed,
        "qkv": qkv,
        "qkv_rotated": qkv_rotated,
        "attention_output": attention_output,
    }
    return head | tail(x, attention_output, weights)
