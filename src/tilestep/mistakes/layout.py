"""Mistakes of where Q, K and V are read and where the output is written."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilestep import reference
from tilestep.contract import DH, GROUP, HKV, HQ, KV, D
from tilestep.mistakes.arithmetic import Doubles, Packed, attend, finish, scores, weights
from tilestep.mistakes.named import Hypothesis, Mistake, each_tile, one

_K = D
_V = D + KV
_HEADS = np.arange(HQ)


def _kv_heads(choose: Callable[[int], int]) -> Callable[[Packed], Doubles]:
    """Attention whose query head h reads K and V at column base + choose(h) * DH, in whatever lies there."""

    def output(x: Packed) -> Doubles:
        heads = [choose(h) for h in range(HQ)]
        count = max(heads) + 1
        return attend(x.q, x.heads(_K, count)[heads], x.heads(_V, count)[heads], x.causal)

    return output


def _kv_columns(k_of: Callable[[int], int], v_of: Callable[[int], int]) -> Callable[[Packed], Doubles]:
    """Attention whose KV head g reads K and V at these columns of its row."""

    def output(x: Packed) -> Doubles:
        k = np.concatenate([x.heads(k_of(g), 1) for g in range(HKV)])
        v = np.concatenate([x.heads(v_of(g), 1) for g in range(HKV)])
        return attend(x.q, np.repeat(k, GROUP, axis=0), np.repeat(v, GROUP, axis=0), x.causal)

    return output


def _grouped_layout(x: Packed) -> Doubles:
    group = (GROUP + 2) * DH  # four query heads, their key head, their value head
    q = np.concatenate([x.heads(g * group, GROUP) for g in range(HKV)])
    k = np.concatenate([x.heads(g * group + GROUP * DH, 1) for g in range(HKV)])
    v = np.concatenate([x.heads(g * group + (GROUP + 1) * DH, 1) for g in range(HKV)])
    return attend(q, np.repeat(k, GROUP, axis=0), np.repeat(v, GROUP, axis=0), x.causal)


def _row_stride(stride: int) -> Hypothesis:
    def output(x: Packed) -> Doubles:
        q = x.heads(0, HQ, stride)
        k, v = (np.repeat(x.heads(column, HKV, stride), GROUP, axis=0) for column in (_K, _V))
        return attend(q, k, v, x.causal)

    return Hypothesis(f"rows are {stride} apart", output)


def _separate_tensors(x: Packed) -> Doubles:
    q = x.heads(0, HQ, D)
    k = np.repeat(x.heads(0, HKV, KV, base=x.T * D), GROUP, axis=0)
    v = np.repeat(x.heads(0, HKV, KV, base=x.T * (D + KV)), GROUP, axis=0)
    return attend(q, k, v, x.causal)


def _keys_of_query(x: Packed) -> Doubles:
    return attend(x.k, x.q, x.v, x.causal)


def _query_head_zero(x: Packed) -> Doubles:
    return attend(np.repeat(x.q[:1], HQ, axis=0), x.k, x.v, x.causal)


def _dot_over(dims: int) -> Hypothesis:
    def output(x: Packed) -> Doubles:
        return finish(weights(scores(x.q[:, :, :dims], x.k[:, :, :dims]), x.causal), x.v, x.causal)

    return Hypothesis(f"the score sums {dims} dims", output)


def _values_of(dims: int) -> Hypothesis:
    def output(x: Packed) -> Doubles:
        v = x.v.copy()
        v[:, :, dims:] = 0.0
        return attend(x.q, x.k, v, x.causal)

    return Hypothesis(f"the output has {dims} dims, the rest is 0", output)


def _right_heads(x: Packed) -> Doubles:
    right: Doubles = attend(x.q, x.k, x.v, x.causal).reshape(x.T, HQ, DH)
    return right


def _dims_first(x: Packed) -> Doubles:
    return np.ascontiguousarray(_right_heads(x).transpose(0, 2, 1)).reshape(x.T, D)


def _head_major(x: Packed) -> Doubles:
    return np.ascontiguousarray(_right_heads(x).transpose(1, 0, 2)).reshape(x.T, D)


def _values_shifted(by: int) -> Hypothesis:
    def output(x: Packed) -> Doubles:
        return attend(x.q, x.k, x.v[:, np.clip(np.arange(x.T) + by, 0, x.T - 1)], x.causal)

    return Hypothesis("one row later" if by > 0 else "one row earlier", output)


def _value_of_query_row(x: Packed) -> Doubles:
    return reference.join_heads(x.v)


def _rotated_again(x: Packed) -> Doubles:
    again = Packed(reference.rope(x.rows, *reference.rope_tables(x.T)))
    return attend(again.q, again.k, again.v, x.causal)


def _same_tile(keys: bool, values: bool) -> Callable[[Packed, int], Doubles]:
    def output(x: Packed, tile: int) -> Doubles:
        row = np.arange(x.T) % tile
        k = x.k[:, row] if keys else x.k
        v = x.v[:, row] if values else x.v
        return attend(x.q, k, v, x.causal)

    return output


MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "kv-head-modulo",
        "the KV head is h % HKV",
        "Query head h reads KV head h % 2; it is h / 4, so that four neighbours share one.",
        "causal-attention",
        one(_kv_heads(lambda h: h % HKV)),
    ),
    Mistake(
        "kv-head-zero",
        "every query head reads KV head 0",
        "All query heads read KV head 0; heads 4 to 7 belong to KV head 1.",
        "causal-attention",
        one(_kv_heads(lambda h: 0)),
    ),
    Mistake(
        "kv-head-own",
        "query head h reads KV head h",
        "K and V are indexed with the query head: there are two KV heads, the rest is V or the next row.",
        "causal-attention",
        one(_kv_heads(lambda h: h)),
    ),
    Mistake(
        "kv-head-divisor",
        "the KV head is h / HKV",
        "Query head h is divided by the number of KV heads (2), not by the heads of a group (4).",
        "causal-attention",
        one(_kv_heads(lambda h: h // HKV)),
    ),
    Mistake(
        "k-v-swapped",
        "K and V are swapped",
        "K is read from V's columns and V from K's.",
        "qkv-projection",
        one(_kv_columns(lambda g: _V + g * DH, lambda g: _K + g * DH)),
    ),
    Mistake(
        "k-v-one-region",
        "K and V are read from the same columns",
        "One column offset is used for both K and V, so one of them is read twice.",
        "qkv-projection",
        (
            Hypothesis("both are K", _kv_columns(lambda g: _K + g * DH, lambda g: _K + g * DH)),
            Hypothesis("both are V", _kv_columns(lambda g: _V + g * DH, lambda g: _V + g * DH)),
        ),
    ),
    Mistake(
        "q-k-swapped",
        "Q and K are swapped",
        "The row's key is multiplied with the other rows' queries.",
        "causal-attention",
        one(_keys_of_query),
    ),
    Mistake(
        "packed-layout-interleaved",
        "the packed columns are read as interleaved heads",
        "The columns are all of Q, then all of K, then all of V; they are read as if heads were interleaved.",
        "qkv-projection",
        (
            Hypothesis("a group's queries, its key, its value", _grouped_layout),
            Hypothesis(
                "K and V heads alternate",
                _kv_columns(lambda g: _K + 2 * g * DH, lambda g: _K + (2 * g + 1) * DH),
            ),
        ),
    ),
    Mistake(
        "row-stride-wrong",
        "rows of the packed tensor are read at a wrong stride",
        "A row of the packed tensor is 768 values long; it is addressed with another width.",
        "qkv-projection",
        (
            _row_stride(D),
            _row_stride(D + KV),
            Hypothesis("Q, K and V as three tensors", _separate_tensors),
        ),
    ),
    Mistake(
        "query-head-zero",
        "every head uses query head 0",
        "The query's column has no head offset: all heads compute the scores of head 0.",
        "causal-attention",
        one(_query_head_zero),
    ),
    Mistake(
        "head-dim-truncated",
        "only part of the head's width is used",
        "The loop over the head's dims stops before 64.",
        "causal-attention",
        (_dot_over(32), _dot_over(16), _dot_over(63), _values_of(32), _values_of(16)),
    ),
    Mistake(
        "output-head-layout",
        "the output's heads are laid out wrongly",
        "The values are right, but head h does not stand at column h * 64 of its row.",
        "causal-attention",
        (Hypothesis("[T, DH, HQ]", _dims_first), Hypothesis("[HQ, T, DH]", _head_major)),
    ),
    Mistake(
        "v-row-shifted",
        "V is read from a neighbouring row",
        "The weight of key j meets the value of row j + 1 or j - 1.",
        "causal-attention",
        (_values_shifted(1), _values_shifted(-1)),
    ),
    Mistake(
        "v-of-query-row",
        "V is read at the query's row",
        "The value's row index is the query's, so the output is V of the row itself.",
        "causal-attention",
        one(_value_of_query_row),
    ),
    Mistake(
        "rope-again",
        "RoPE is applied a second time",
        "The packed tensor is rotated already; Q and K are rotated again.",
        "rope",
        one(_rotated_again),
    ),
    Mistake(
        "tile-not-advanced",
        "every tile reads the first tile's rows",
        "The tile's start is missing from a row index: key j is read at row j % tile.",
        "online-attention",
        (
            *each_tile(_same_tile(True, True)),
            *each_tile(_same_tile(True, False), label="tile {}, K only"),
            *each_tile(_same_tile(False, True), label="tile {}, V only"),
        ),
    ),
)
