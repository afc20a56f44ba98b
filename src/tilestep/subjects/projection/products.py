"""Right and wrong products of a case in float64: each gives the whole packed tensor [T, QKV_OUT]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tilestep.case import Case
from tilestep.contract import DH, GROUP, HKV, HQ, KV, PACKED_REGIONS, QKV_OUT, D

Doubles = NDArray[np.float64]
Index = NDArray[np.intp]
Wrong = Callable[[Case], Doubles]

COLUMNS = np.arange(QKV_OUT)
Q, K, V = (COLUMNS[region.begin : region.end] for region in PACKED_REGIONS)
INNER = np.arange(D)


def operands(case: Case) -> tuple[Doubles, Doubles]:
    """x [T, D] and the weights [QKV_OUT, D]."""
    return case["normed"], case["w_qkv"]


def right(case: Case) -> Doubles:
    """The product itself."""
    x, weight = operands(case)
    return np.asarray(x @ weight.T)


def of_weight_rows(rows: Index) -> Wrong:
    """Output column c is made with weight row `rows[c]`."""
    return lambda case: right(case)[:, rows]


def of_inner(x_columns: Index, w_columns: Index | None = None) -> Wrong:
    """The sum runs over these columns of x and of the weights; over the same ones if only one is given."""
    others = x_columns if w_columns is None else w_columns

    def output(case: Case) -> Doubles:
        x, weight = operands(case)
        return np.asarray(x[:, x_columns] @ weight[:, others].T)

    return output


def weight_as_in_out(case: Case) -> Doubles:
    """The weights are read as [D, QKV_OUT]."""
    x, weight = operands(case)
    return np.asarray(x @ weight.reshape(D, QKV_OUT))


def in_rows_of_columns(case: Case) -> Doubles:
    """Element (t, c) is stored at c * T + t."""
    product = right(case)
    return np.ascontiguousarray(product.T).reshape(product.shape)


def of_token_zero(case: Case) -> Doubles:
    """Every row is the first token's."""
    product = right(case)
    return np.repeat(product[:1], len(product), axis=0)


def scaled_q(factor: float) -> Wrong:
    """Q's columns carry a factor."""
    return lambda case: right(case) * np.where(COLUMNS < D, factor, 1.0)


def carried_over(stride: int) -> Wrong:
    """A thread's accumulator goes on from one of its outputs to the next, `stride` columns further."""

    def output(case: Case) -> Doubles:
        product = right(case)
        dealt = product.reshape(len(product), -1, stride)
        return np.asarray(np.cumsum(dealt, axis=1)).reshape(product.shape)

    return output


def transposed_in_tile(tile: int) -> Wrong:
    """Within each tile of the weights row and column are exchanged."""

    def output(case: Case) -> Doubles:
        x, weight = operands(case)
        tiles = weight.reshape(QKV_OUT // tile, tile, D // tile, tile)
        return np.asarray(x @ tiles.transpose(0, 3, 2, 1).reshape(QKV_OUT, D).T)

    return output


def slabs(*order: Index) -> Index:
    """The weight rows of the slabs in another order."""
    return np.concatenate(order)


def grouped_heads() -> Index:
    """Weight rows in the order: a group's query heads, its key head, its value head."""
    head = np.arange(DH)
    order = []
    for g in range(HKV):
        order += [Q[0] + (g * GROUP + h) * DH + head for h in range(GROUP)]
        order += [K[0] + g * DH + head, V[0] + g * DH + head]
    return np.concatenate(order)


def alternating_heads() -> Index:
    """Weight rows in the order: all of Q, then a key head, its value head, the next key head, and so on."""
    pairs = [np.r_[K[g * DH : (g + 1) * DH], V[g * DH : (g + 1) * DH]] for g in range(KV // DH)]
    return np.concatenate([Q[: HQ * DH], *pairs])
