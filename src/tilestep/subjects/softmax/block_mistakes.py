"""Mistakes of threads that share a row: what each of them sees, and what the block's sum and maximum miss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tilestep.mistakes.arithmetic import Doubles, Mask
from tilestep.mistakes.named import Mistake
from tilestep.subjects.softmax import row_mistakes
from tilestep.subjects.softmax.arithmetic import (
    WARP,
    by_thread,
    divided,
    each_block,
    largest,
    owner,
    shifted,
    to_columns,
    total,
)

_SEVERAL_WARPS = (64, 96, 128, 192, 256, 512, 1024)
_ODD_TREES = (96, 192)
_SHORT_STRIDES = (4, 32, 64, 96, 128, 192, 256)  # with longer ones hardly a row has a whole stride

Shared = Callable[[Doubles, int], Doubles]  # values and the number of threads that share a row


def _own_max(x: Doubles, threads: int) -> Doubles:
    """The maximum of the owning thread's values, for each column."""
    return to_columns(by_thread(x, threads).max(axis=1), x.shape[1])


def _own_sum(p: Doubles, threads: int) -> Doubles:
    """The sum of the owning thread's values, for each column."""
    return to_columns(by_thread(p, threads, 0.0).sum(axis=1), p.shape[1])


def _grouped(x: Doubles, groups: NDArray[np.int64], fill: float) -> tuple[Doubles, Doubles]:
    """Maximum and sum over the columns of the same group, for each column."""
    top, added = np.full_like(x, fill), np.full_like(x, fill)
    for group in np.unique(groups):
        inside = groups == group
        top[:, inside] = x[:, inside].max(axis=1, keepdims=True)
        added[:, inside] = x[:, inside].sum(axis=1, keepdims=True)
    return top, added


def _nothing_shared(x: Doubles, threads: int) -> Doubles:
    p = shifted(x, _own_max(x, threads))
    return divided(p, _own_sum(p, threads))


def _own_maximum(x: Doubles, threads: int) -> Doubles:
    """Each thread's exponentials are relative to its own maximum; the block sums them all the same."""
    p = shifted(x, _own_max(x, threads))
    return divided(p, total(p))


def own_numerators(x: Doubles, threads: int) -> Doubles:
    """The denominator is relative to the row's maximum, each thread's exponentials to its own."""
    return divided(shifted(x, _own_max(x, threads)), total(shifted(x, largest(x))))


def _own_sums(x: Doubles, threads: int) -> Doubles:
    p = shifted(x, largest(x))
    return divided(p, _own_sum(p, threads))


def _own_sums_but_one(x: Doubles, threads: int) -> Doubles:
    p = shifted(x, largest(x))
    share = _own_sum(p, threads)
    share[:, owner(x.shape[1], threads) == 0] = total(p)
    return divided(p, share)


def _warps(in_max: bool) -> Shared:
    def output(x: Doubles, threads: int) -> Doubles:
        warp = owner(x.shape[1], threads) // WARP
        shift = _grouped(x, warp, -np.inf)[0] if in_max else largest(x)
        p = shifted(x, shift)
        return divided(p, _grouped(p, warp, 0.0)[1])

    return output


def _over_some(x: Doubles, counted: Mask, in_max: bool) -> Doubles:
    """The softmax whose sum, and whose maximum if asked, take only some of the columns."""
    shift = largest(np.where(counted, x, -np.inf)) if in_max else largest(x)
    p = shifted(x, shift)
    return divided(p, total(np.where(counted, p, 0.0)))


def _first_stride(in_max: bool) -> Shared:
    def output(x: Doubles, threads: int) -> Doubles:
        return _over_some(x, np.arange(x.shape[1]) < threads, in_max)

    return output


def _first_warp(x: Doubles, threads: int) -> Doubles:
    return _over_some(x, owner(x.shape[1], threads) < WARP, in_max=False)


def _whole_strides(x: Doubles, threads: int) -> Doubles:
    return _over_some(x, np.arange(x.shape[1]) < x.shape[1] // threads * threads, in_max=False)


def _odd_tree(in_max: bool, in_sum: bool) -> Shared:
    """A block of 3 * 2^n halved down to 3 leaves, then to 1: every third leaf is lost."""

    def output(x: Doubles, threads: int) -> Doubles:
        kept = owner(x.shape[1], threads) % 3 != 2
        shift = largest(np.where(kept, x, -np.inf)) if in_max else largest(x)
        p = shifted(x, shift)
        return divided(p, total(np.where(kept, p, 0.0) if in_sum else p))

    return output


def _padded(value_is_max: bool, in_max: bool) -> Shared:
    """Threads past the row's end bring a value of 0 to the sum, or one of the maximum: exp(0) = 1."""

    def output(x: Doubles, threads: int) -> Doubles:
        absent = -x.shape[1] % threads
        shift = np.maximum(largest(x), 0.0) if in_max and absent else largest(x)
        p = shifted(x, shift)
        extra = np.full((x.shape[0], absent), 0.0) - (0.0 if value_is_max else shift)
        return divided(p, total(p) + total(shifted(extra, 0.0)))

    return output


BLOCK: tuple[Mistake, ...] = (
    row_mistakes.no_max_subtraction("stable-softmax"),
    row_mistakes.max_starts_at_zero("block-max"),
    Mistake(
        "threads-do-not-share",
        "each thread keeps to its own columns",
        "Threads divide by the sum of their own columns: nobody combines the sums and hands the result out.",
        "block-softmax",
        (
            *each_block(_nothing_shared, label="{} threads, maximum and sum"),
            *each_block(_own_sums, label="{} threads, the sum"),
            *each_block(_own_sums_but_one, label="{} threads, the sum of all but thread 0"),
        ),
    ),
    Mistake(
        "warps-not-joined",
        "each warp keeps to its own columns",
        "The sum is that of the thread's warp: the warps' sums are never combined over the block.",
        "block-softmax",
        (
            *each_block(_warps(in_max=False), _SEVERAL_WARPS, "{} threads, the sum"),
            *each_block(_warps(in_max=True), _SEVERAL_WARPS, "{} threads, maximum and sum"),
        ),
    ),
    Mistake(
        "max-of-own-values",
        "each thread subtracts its own maximum",
        "Threads take exponentials relative to different maxima, and the block adds them all the same.",
        "block-softmax",
        each_block(_own_maximum),
    ),
    Mistake(
        "columns-past-block",
        "only the first column of each thread counts",
        "Each thread takes one column and never strides on: what lies past the block's width is left out.",
        "block-softmax",
        (
            *each_block(_first_stride(in_max=False), label="{} threads, the sum"),
            *each_block(_first_stride(in_max=True), label="{} threads, maximum and sum"),
        ),
    ),
    Mistake(
        "first-warp-only",
        "only the first warp's columns are summed",
        "The denominator is warp 0's sum: the other warps' partial sums are left out.",
        "block-softmax",
        each_block(_first_warp, _SEVERAL_WARPS),
    ),
    Mistake(
        "tree-not-power-of-two",
        "the tree loses leaves where it halves an odd number",
        "A block of 96 or 192 halves down to 3 leaves, then to 1: every third thread's value is left out.",
        "block-sum",
        (
            *each_block(_odd_tree(False, True), _ODD_TREES, "{} threads, in the sum"),
            *each_block(_odd_tree(True, True), _ODD_TREES, "{} threads, in maximum and sum"),
        ),
    ),
    Mistake(
        "tail-included",
        "threads past the end of the row are counted",
        "A thread without a column adds an exponential all the same: the denominator is too large.",
        "block-sum",
        (
            *each_block(_padded(False, False), label="{} threads, a value of 0"),
            *each_block(_padded(False, True), label="{} threads, a value of 0, in the maximum too"),
            *each_block(_padded(True, False), label="{} threads, exp(0)"),
        ),
    ),
    Mistake(
        "tail-dropped",
        "the last columns are dropped",
        "Only whole strides of the block are summed: the columns after the last one are left out.",
        "block-sum",
        each_block(_whole_strides, _SHORT_STRIDES, "strides of {}"),
    ),
    row_mistakes.no_normalisation("stable-softmax"),
)
