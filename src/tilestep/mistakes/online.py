"""The online softmax tile by tile, with a switch for every line of its update that can be wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilestep.contract import DH, HQ
from tilestep.mistakes.arithmetic import Doubles, Mask, Packed, divide, exp, fp32, hide, weigh


@dataclass(frozen=True)
class Update:
    """How a tile changes the state (m, l, acc). The defaults are right.

    alpha_on_l, alpha_on_acc: the power of alpha that is applied; 0 leaves it out, -1 inverts it (from the
    second tile on: the first would give NaN everywhere), 2 applies it twice. stored_max: `new`; `first` keeps
    the first tile's and uses it; `never` uses the new one, but stores none.
    """

    alpha_on_l: int = 1
    alpha_on_acc: int = 1
    stored_max: str = "new"
    weights_from_tile_max: bool = False
    keep_l: bool = True
    keep_acc: bool = True
    divide_each_tile: bool = False
    divide_at_end: bool = True


def run(packed: Packed, tile: int, update: Update) -> Doubles:
    """Output rows [T, D] of causal attention whose keys come in tiles; a row skips tiles it cannot see."""
    T = packed.T
    m = np.full((HQ, T, 1), -np.inf)
    total = np.zeros((HQ, T, 1))
    acc = np.zeros((HQ, T, DH))
    for start in range(0, T, tile):
        keys = slice(start, min(start + tile, T))
        rows = slice(start, T)  # earlier rows see nothing of this tile
        visible = packed.causal[rows, keys]
        s = hide(packed.scores[:, rows, keys], visible)
        m_old, m_tile = m[:, rows], s.max(axis=-1, keepdims=True)
        m_new = np.maximum(m_old, m_tile)
        if update.stored_max == "first":
            m_new = np.where(np.isneginf(m_old), m_tile, m_old)
        with np.errstate(invalid="ignore", over="ignore"):
            p = exp(s - (m_tile if update.weights_from_tile_max else m_new))
            change = m_old - m_new
            first = np.full(m_old.shape, start == 0)  # a maximum that is never stored is -inf later too
            on_l = _alpha(change, first, update.alpha_on_l)
            on_acc = _alpha(change, first, update.alpha_on_acc)
            if not update.keep_l:
                on_l = np.zeros_like(change)
            if not update.keep_acc:
                on_acc = np.zeros_like(change)
            total[:, rows] = fp32(on_l * total[:, rows] + p.sum(axis=-1, keepdims=True))
            acc[:, rows] = fp32(on_acc * acc[:, rows] + weigh(p, packed.v[:, keys], visible))
            if update.divide_each_tile:
                acc[:, rows] = fp32(acc[:, rows] / total[:, rows])
        if update.stored_max != "never":
            m[:, rows] = m_new
    return divide(acc, total if update.divide_at_end else np.ones_like(total))


def _alpha(change: Doubles, first: Mask, power: int) -> Doubles:
    """exp(power * (m_old - m_new)); an inverted one is spared the first tile, where it is infinite."""
    if power > 0:
        return exp(power * change)
    return np.where(first, 1.0, exp(power * np.where(first, 0.0, change)))
