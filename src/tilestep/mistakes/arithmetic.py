"""The parts that wrong attention kernels are put together from, in float64 with fp32's range.

A named mistake is a formula; what fp32 adds is where exp overflows to infinity or vanishes to 0, so every exp
and every stored sum goes through `fp32`. All arrays have the query heads first: [HQ, T, ...].
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilestep import reference
from tilestep.contract import DH, GROUP, QKV_OUT

Doubles = NDArray[np.float64]
Mask = NDArray[np.bool_]
Exp = Callable[[Doubles], Doubles]

SCALE = 1.0 / np.sqrt(DH)
TILES = (8, 16, 32, 64)


def fp32(x: Doubles) -> Doubles:
    """x as a float stores it: rounded, infinite beyond its range, 0 below it."""
    with np.errstate(over="ignore", invalid="ignore"):
        return x.astype(np.float32).astype(np.float64)


def exp(x: Doubles) -> Doubles:
    """expf."""
    with np.errstate(over="ignore"):
        return fp32(np.exp(x))


def exp2(x: Doubles) -> Doubles:
    """exp2f."""
    with np.errstate(over="ignore"):
        return fp32(np.exp2(x))


class Packed:
    """The packed tensor [T, QKV_OUT] and what right kernels derive from it, computed once."""

    def __init__(self, qkv: ArrayLike) -> None:
        self.rows: Doubles = np.asarray(qkv, dtype=np.float64)
        self.T: int = self.rows.shape[0]

    def perturbed(self, relative: float, draw: int = 0) -> Packed:
        """The same with every element off by this relative amount, up or down: what rounding may do."""
        signs = np.random.default_rng([self.T, draw]).choice((-relative, relative), size=self.rows.shape)
        return Packed(self.rows * (1.0 + signs))

    def heads(self, column: int, count: int, row_stride: int = QKV_OUT, base: int = 0) -> Doubles:
        """[count, T, DH] read as a pointer would: at base + row * row_stride + column + head * DH.

        What lies past the tensor is NaN.
        """
        flat = self.rows.reshape(-1)
        begin = base + column + np.arange(count)[:, None] * DH + np.arange(self.T)[None, :] * row_stride
        index = begin[:, :, None] + np.arange(DH)
        inside = (index >= 0) & (index < flat.size)
        read: Doubles = np.where(inside, flat[np.clip(index, 0, flat.size - 1)], np.nan)
        return read

    @cached_property
    def q(self) -> Doubles:
        return reference.split_heads(self.rows)[0]

    @cached_property
    def k(self) -> Doubles:
        """Keys as each query head sees them: [HQ, T, DH]."""
        return np.repeat(reference.split_heads(self.rows)[1], GROUP, axis=0)

    @cached_property
    def v(self) -> Doubles:
        """Values as each query head sees them: [HQ, T, DH]."""
        return np.repeat(reference.split_heads(self.rows)[2], GROUP, axis=0)

    @cached_property
    def scores(self) -> Doubles:
        """Scaled scores of every pair: [HQ, T, T]."""
        return scores(self.q, self.k)

    @cached_property
    def causal(self) -> Mask:
        return np.tril(np.ones((self.T, self.T), dtype=bool))

    @cached_property
    def i(self) -> NDArray[np.int64]:
        """Query rows as a column [T, 1]."""
        return np.arange(self.T)[:, None]

    @cached_property
    def j(self) -> NDArray[np.int64]:
        """Keys as a row [1, T]."""
        return np.arange(self.T)[None, :]

    def reach(self, tile: int) -> Mask:
        """The keys that a row's loop walks: to the end of the row's own tile; tile 0 means all keys."""
        if tile == 0:
            return np.ones((self.T, self.T), dtype=bool)
        return self.j < (self.i // tile + 1) * tile


def scores(q: Doubles, k: Doubles) -> Doubles:
    """q k^T / sqrt(DH) for each head."""
    scaled: Doubles = _product(q, k.transpose(0, 2, 1)) * SCALE
    return scaled


def _product(a: Doubles, b: Doubles) -> Doubles:
    """a @ b for each head, a few rows at a time: no BLAS threads (see reference.query_rows_at_once)."""
    rows = a.shape[1]
    step = reference.query_rows_at_once(rows)
    if rows <= step:
        return np.asarray(a @ b)
    return np.concatenate([a[:, begin : begin + step] @ b for begin in range(0, rows, step)], axis=1)


def hide(s: Doubles, visible: Mask) -> Doubles:
    """Scores with -inf where a key is not visible."""
    hidden: Doubles = np.where(visible, s, -np.inf)
    return hidden


def row_max(s: Doubles, visible: Mask) -> Doubles:
    """Largest visible score of each row [HQ, T, 1], -inf where none is; NaN is ignored, as by fmaxf."""
    masked = hide(s, visible)
    largest: Doubles = np.where(np.isnan(masked), -np.inf, masked).max(axis=-1, keepdims=True)
    return largest


def weights(s: Doubles, visible: Mask, shift: Doubles | float | None = None, base: Exp = exp) -> Doubles:
    """exp(s - shift) where visible, else 0; the shift is the row's maximum unless given."""
    if shift is None:
        shift = row_max(s, visible)
    with np.errstate(invalid="ignore"):
        p: Doubles = np.where(visible, base(hide(s, visible) - shift), 0.0)
    return p


def weigh(p: Doubles, v: Doubles, touched: Mask) -> Doubles:
    """p v; a value that is not finite spoils every row that multiplies it, by 0 too: see `touched` [T, T]."""
    finite = np.isfinite(v)
    with np.errstate(over="ignore", invalid="ignore"):
        product = _product(p, np.where(finite, v, 0.0))
    if not finite.all():
        every = np.broadcast_to(touched, p.shape).astype(np.float64)
        hits = _product(every, (~finite).astype(np.float64))
        product = np.where(hits > 0.0, np.nan, product)
    return fp32(product)


def divide(acc: Doubles, total: Doubles) -> Doubles:
    """acc [HQ, T, DH] over total [HQ, T, 1], joined to rows [T, D]; 0 / 0 is NaN as on the device."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return reference.join_heads(fp32(acc / total))


def finish(p: Doubles, v: Doubles, touched: Mask) -> Doubles:
    """The normalised output rows [T, D] of unnormalised weights p."""
    return divide(weigh(p, v, touched), fp32(p.sum(axis=-1, keepdims=True)))


def attend(q: Doubles, k: Doubles, v: Doubles, visible: Mask) -> Doubles:
    """Right attention of these heads under this mask: [T, D]."""
    return finish(weights(scores(q, k), visible), v, visible)


def empty_rows_zero(out: Doubles) -> Doubles:
    """For kernels that guard the division: rows that saw no key are 0, not NaN."""
    return np.where(np.isnan(out), 0.0, out)
