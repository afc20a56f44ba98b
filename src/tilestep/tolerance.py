"""How far from float64 an honest fp32 kernel may be, for every element at the reference's own scale.

The bounds follow the arithmetic. A computed softmax weight is off by a relative error e_j: the rounding of
its dot product, of the exponent and of exp itself. Errors shared by all weights of a row cancel in the
division, so the output moves by sum p_j e_j (v_j - o); the running sums add a few roundings of their own.
What is honest in any summation order, tile size or base of exp stays below a quarter of the bound; inputs or
weights rounded to TF32, bf16 or fp16 do not fit (tests/pure/test_tolerance.py shows both).

Compare as `not (abs(got - want) <= bound)`: a NaN must fail. Rows whose right value is not finite get a NaN
bound: nothing passes there, and they are not judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilestep import reference
from tilestep.contract import DH, GROUP, HQ, RMS_EPS

Doubles = NDArray[np.float64]

UNIT = 2.0**-24  # largest relative error of one fp32 rounding
TINY = float(np.finfo(np.float32).tiny)  # below this fp32 loses bits, or flushes to zero

# In units of UNIT; each is four times what was seen, or what the CUDA manual allows, whichever is more.
DOT = 60.0  # per sum |q_d k_d| / sqrt(DH); worst in a serial sum whose products all have one sign
EXPONENT = 24.0  # per |score - max|; __expf may be off by 1.173 |x| units in the last place, two UNITs each
WEIGHT = 60.0  # per weight: __expf's two units in the last place, and the rounding of the product with V
SUM = 16.0  # per sum p_j |v_j|: the division, the store, the rescaling
SUM_PER_ROOT_KEY = 6.0  # the same, per root of the number of keys; worst when one key leads many small ones
LINEAR = 2.0  # per root of sum (x_d w_d)^2 and root of the number of terms, for a dot product of the tail
UNALIGNED = 4.0  # the tail's sums of errors, in standard deviations


def attention(qkv: ArrayLike, want: ArrayLike) -> Doubles:
    """Bound [T, D] on |got - want| for the packed tensor [T, QKV_OUT] and its right output [T, D]."""
    return attention_rows(qkv, want, np.arange(np.asarray(want).shape[0]))


def attention_rows(qkv: ArrayLike, want: ArrayLike, rows: reference.Rows) -> Doubles:
    """The same for some rows only: `want` and the bound are [len(rows), D]."""
    q, k, v = reference.split_heads(qkv)
    right = np.asarray(want, dtype=np.float64).reshape(-1, HQ, DH).transpose(1, 0, 2)
    bound = np.stack([_one_head(q[h], k[h // GROUP], v[h // GROUP], right[h], rows) for h in range(HQ)])
    return reference.join_heads(bound)


def _one_head(q: Doubles, k: Doubles, v: Doubles, right: Doubles, rows: reference.Rows) -> Doubles:
    """The bound for one head and these rows of it. q, k and v are [T, DH], `right` [len(rows), DH]."""
    v = np.where(np.isfinite(v), v, 0.0)  # masked, or in a row whose output is NaN already
    size_q, size_k, square, size_v = np.abs(q), np.abs(k), v * v, np.abs(v)
    step = reference.query_rows_at_once(q.shape[0])
    bound = np.empty((len(rows), DH))
    for begin in range(0, len(rows), step):
        some = rows[begin : begin + step]
        weights = reference.causal_scores(q, k, some)
        seen = weights.shape[1]
        weights -= weights.max(axis=1, keepdims=True)
        depth = np.where(np.isneginf(weights), 0.0, -weights)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=1, keepdims=True)
        dot = size_q[some] @ size_k[:seen].T
        dot /= np.sqrt(DH)
        masked = weights == 0.0  # a key that has no weight may be NaN
        errors = np.where(masked, 0.0, weights * (DOT * dot + EXPONENT * depth + WEIGHT))
        o = right[begin : begin + step]
        zeroth, first, second = errors.sum(axis=1, keepdims=True), errors @ v[:seen], errors @ square[:seen]
        # Cauchy and Schwarz: sum w |v - o| <= sqrt(sum w) sqrt(sum w (v - o)^2), which needs products only.
        variance = np.maximum(second - 2.0 * o * first + o * o * zeroth, 0.0)
        from_weights = np.sqrt(zeroth * variance)
        keys = some[:, None] + 1.0
        magnitude = weights @ size_v[:seen]
        from_sums = _of_sums(keys) * magnitude
        bound[begin : begin + step] = UNIT * (from_weights + from_sums) + TINY * (1.0 + keys)
    return np.where(np.isfinite(right), bound, np.nan)


def _of_sums(keys: NDArray[Any]) -> Doubles:
    """What the running sums over so many keys add, in units of UNIT and of sum p_j |v_j|."""
    return np.asarray(SUM + SUM_PER_ROOT_KEY * np.sqrt(keys))


def attention_at_most(qkv: ArrayLike) -> Doubles:
    """A bound [T, D] that is nowhere below attention's, from running extremes alone: no score is computed.

    It is some ten times larger, and takes a hundredth of the time. A row's dots are at most |q| |k|; the mean
    of an exponent's depth below the maximum is an entropy less what is positive, so at most the logarithm of
    the number of keys; no value is further from the output than its column's range so far. All must be
    finite.
    """
    q, k, v = reference.split_heads(qkv)
    longest = np.maximum.accumulate(np.linalg.norm(k, axis=2), axis=1)  # [HKV, T]
    reach = np.maximum.accumulate(v, axis=1) - np.minimum.accumulate(v, axis=1)
    size = np.maximum.accumulate(np.abs(v), axis=1)
    keys = np.arange(1, q.shape[1] + 1, dtype=np.float64)[:, None]
    bound = np.empty_like(q)
    for h in range(HQ):
        g = h // GROUP
        dot = (np.linalg.norm(q[h], axis=1) * longest[g] / np.sqrt(DH))[:, None]
        errors = DOT * dot + EXPONENT * np.log(keys) + WEIGHT
        bound[h] = UNIT * (errors * reach[g] + _of_sums(keys) * size[g]) + TINY * (1.0 + keys)
    return reference.join_heads(bound)


def tail(
    x: ArrayLike,
    attention_output: ArrayLike,
    weights: Mapping[str, ArrayLike],
    attention_bound: ArrayLike,
    right: Mapping[str, Doubles] | None = None,
) -> dict[str, Doubles]:
    """Bounds on the tensors after attention, given the right attention output and its bound, both [T, D].

    What an attention output within its bound does to each later tensor, plus the rounding of an fp32 kernel
    that computes the step. Errors of a row's elements are taken as independent: lined up in the worst way
    they would add up to bounds as large as the values, and no arithmetic lines them up. `right` is
    reference.tail of the same arguments, for a caller that has it already.
    """
    right = reference.tail(x, attention_output, weights) if right is None else right

    projected = _through(attention_bound, attention_output, weights["w_o"])
    residual = projected + UNIT * 4.0 * np.abs(right["residual"])

    # y = r w / rms(r): the error of r itself, and that of its root mean square.
    r = np.abs(right["residual"])
    rms = np.sqrt(np.mean(r * r, axis=1, keepdims=True) + RMS_EPS)
    of_rms = UNALIGNED * np.sqrt(np.sum((r * residual) ** 2, axis=1, keepdims=True)) / (r.shape[1] * rms)
    shrunk = np.maximum(rms - of_rms, TINY)
    normed_2 = (residual + r * of_rms / shrunk) / shrunk * np.abs(np.asarray(weights["norm_2_weight"]))
    normed_2 += UNIT * 32.0 * np.abs(right["normed_2"])

    narrow = right["normed_2"].astype(np.float32)
    gate = narrow @ np.asarray(weights["w_gate"], dtype=np.float32).T
    up = np.abs(narrow @ np.asarray(weights["w_up"], dtype=np.float32).T)
    gate_bound = _through(normed_2, right["normed_2"], weights["w_gate"])
    up_bound = _through(normed_2, right["normed_2"], weights["w_up"])
    steepest = 1.1  # the largest slope of silu
    activated = np.abs(reference.silu(gate)) * up_bound + steepest * gate_bound * (up + up_bound)
    activated += UNIT * (32.0 + 4.0 * np.abs(gate)) * np.abs(right["activated"])

    block_output = residual + _through(activated, right["activated"], weights["w_down"])
    block_output += UNIT * 4.0 * np.abs(right["block_output"])
    bounds = {
        "projected": projected,
        "residual": residual,
        "normed_2": normed_2,
        "activated": activated,
        "block_output": block_output,
    }
    return {name: bound + TINY for name, bound in bounds.items()}


def _through(bound: ArrayLike, x: ArrayLike, weight: ArrayLike) -> Doubles:
    """What x's error bound [T, in] becomes in x weight^T [T, out], the product's own roundings included.

    A bound needs no sixteen digits: this is in fp32, for half the time.
    """
    size = np.asarray(weight, dtype=np.float32)
    rounding = UNIT * LINEAR * np.sqrt(size.shape[1]) * np.asarray(x, dtype=np.float64)
    square = np.asarray(bound, dtype=np.float64) ** 2 + rounding**2
    total = square.astype(np.float32) @ (size * size).T
    return np.asarray(UNALIGNED * np.sqrt(total), dtype=np.float64)
