"""The one-pass softmax of a block, with a switch for every line of it that can be wrong.

Thread t of T walks its columns and keeps a maximum m_t and a denominator l_t; then the threads' pairs are
merged into one for the row. With one thread there is nothing to merge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilestep.mistakes.arithmetic import Doubles, Mask, exp, fp32
from tilestep.subjects.softmax.arithmetic import WARP, by_thread, divided, largest, shifted


@dataclass(frozen=True)
class Steps:
    """How the pairs come about. The defaults are right.

    alpha: the power of exp(m_old - m_new) that is applied to l in the loop; 0 leaves it out, -1 inverts it,
    2 applies it twice. keep_l: whether l keeps what came before. rescale: which l is brought to the common
    maximum in the merge: both, none, lower (the thread's own) or upper (its partner's, in a tree of halves).
    store: whether the merge stores the common maximum.
    """

    alpha: int = 1
    keep_l: bool = True
    rescale: str = "both"
    store: bool = True


def run(x: Doubles, threads: int, steps: Steps) -> Doubles:
    """The probabilities [rows, columns]; the numerators are right, exp(x - m) of the row's maximum m."""
    m_row, l_row = _merge(*_loop(by_thread(x, threads), steps), steps)
    return divided(shifted(x, m_row), l_row)


def _loop(met: Doubles, steps: Steps) -> tuple[Doubles, Doubles]:
    """(m, l) of each thread [rows, threads] for what it meets [rows, steps, threads].

    In closed form: by the end, a value that came in when the maximum was r has been rescaled by
    exp(r - m) to the power of alpha.
    """
    running = np.maximum.accumulate(met, axis=1)
    m = running[:, -1:]
    some = np.isfinite(met)
    with np.errstate(invalid="ignore", over="ignore"):
        exponent = met - running + steps.alpha * (running - m)
        added = np.where(some, exp(np.where(some, exponent, 0.0)), 0.0)
    if not steps.keep_l:
        added = _last(added, some)
    return m[:, 0], fp32(added.sum(axis=1))


def _last(added: Doubles, some: Mask) -> Doubles:
    """Only what each thread added last."""
    later = np.cumsum(some[:, ::-1], axis=1)[:, ::-1]
    return np.where(some & (later == 1), added, 0.0)


def _merge(maxima: Doubles, sums: Doubles, steps: Steps) -> tuple[Doubles, Doubles]:
    """The row's pair [rows, 1], folded in a tree of halves, the upper half onto the lower one."""
    m, total = maxima.copy(), sums.copy()
    count = m.shape[1]
    while count > 1:
        half = (count + 1) // 2
        low, high = slice(0, count - half), slice(half, count)
        m_new = np.maximum(m[:, low], m[:, high])
        on_low = _rescaling(m[:, low], m_new) if steps.rescale in ("both", "lower") else 1.0
        on_high = _rescaling(m[:, high], m_new) if steps.rescale in ("both", "upper") else 1.0
        with np.errstate(invalid="ignore", over="ignore"):
            total[:, low] = fp32(total[:, low] * on_low + total[:, high] * on_high)
        if steps.store:
            m[:, low] = m_new
        count = half
    return m[:, :1], total[:, :1]


def _rescaling(m_old: Doubles, m_new: Doubles) -> Doubles:
    """exp(m_old - m_new); 1 where both are -inf, for a thread that met nothing."""
    both = np.isneginf(m_new)
    return np.where(both, 1.0, exp(np.where(both, 0.0, m_old - np.where(both, 0.0, m_new))))


def minus_infinities(x: Doubles, threads: int, where: str) -> Doubles:
    """Right, but -inf less -inf is NaN, which spoils the row.

    `where` is `loop`: a thread's first value is -inf; `tree`: two threads that met nothing finite merge, half
    a block apart; `warps`: likewise, half a warp apart.
    """
    met = by_thread(x, threads)
    if where == "loop":
        spoilt = np.isneginf(met[:, 0]) & (np.arange(threads) < x.shape[1])
    else:
        reach = WARP if where == "warps" else 1 << (threads - 1).bit_length()
        idle = np.isneginf(by_thread(met.max(axis=1), reach)).reshape(x.shape[0], -1, 2, reach // 2)
        spoilt = (idle[:, :, 0] & idle[:, :, 1]).reshape(x.shape[0], -1)
    p = shifted(x, largest(x))
    out = divided(p, p.sum(axis=1, keepdims=True))
    out[spoilt.any(axis=1)] = np.nan
    return out
