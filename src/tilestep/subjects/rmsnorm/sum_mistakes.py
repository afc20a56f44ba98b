"""Mistakes on the way from the threads' partial sums to one sum of squares that all threads have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilestep.contract import D
from tilestep.mistakes.arithmetic import Doubles
from tilestep.mistakes.named import Hypothesis, Mistake
from tilestep.subjects.protocol import Case
from tilestep.subjects.reduction import mistakes as reductions
from tilestep.subjects.reduction.folds import SUM, Wrong, running
from tilestep.subjects.rmsnorm.formula_mistakes import Formula, mean_square, of, over_root

_STEP = "rmsnorm"
_TREE_LESSON = "block-sum"
_THREADS = (32, 64, 128, 256)  # fewer than there are columns, so that a thread has several
_WARP = 32
_ROWS_OF_A_BLOCK = (2, 4, 8, 16)

# With D columns these are what another mistake is as well, which tells more, or nothing wrong at all.
_NOT_HERE = {
    ("columns-past-block", f"the first {_WARP}"),  # the first warp's, of D threads
    ("columns-past-block", f"the first {D}"),
    ("columns-past-block", f"the first {2 * D}"),
    ("tree-level-missing", f"the first level of {D}"),  # the first D / 2 columns
    ("tree-level-missing", f"the first level of {2 * D}"),
}


def _with_sum(wrong: Wrong) -> Formula:
    """RMSNorm with a wrong sum of squares."""
    return lambda x, w: over_root(x, wrong(SUM, x * x) / D, w)


def _shared(mistake: Mistake) -> Mistake:
    """A mistake of the sum, made on the squares of a row."""
    hypotheses = tuple(
        of(lambda x, w, h=h: over_root(x, _sum_of_squares(h, x) / D, w), h.label)  # type: ignore[misc]
        for h in mistake.hypotheses
        if (mistake.code, h.label) not in _NOT_HERE
    )
    return replace(mistake, hypotheses=hypotheses)


def _sum_of_squares(mistaken: Hypothesis, x: Doubles) -> Doubles:
    """What a hypothesis of the step block-sum makes of the squares of x, [T, 1]."""
    rows = np.ones(x.shape[0], dtype=bool)
    squares = Case(_TREE_LESSON, x.shape[1], "", 0, {}, {"matrix": x * x}, rows)
    output = mistaken.output(squares)
    return np.asarray(output["sums"] if isinstance(output, dict) else output)


def _own_partial(threads: int) -> Formula:
    """Each thread divides by the root of what it added itself."""

    def normed(x: Doubles, weight: Doubles) -> Doubles:
        partial = (x * x).reshape(x.shape[0], -1, threads).sum(axis=1)
        return over_root(x, np.tile(partial, (1, x.shape[1] // threads)) / D, weight)

    return normed


def _own_warp(threads: int) -> Formula:
    """Each warp divides by the root of its own lanes' sum."""

    def normed(x: Doubles, weight: Doubles) -> Doubles:
        by_warp = (x * x).reshape(x.shape[0], -1, threads // _WARP, _WARP)
        sums = np.repeat(by_warp.sum(axis=(1, 3)), _WARP, axis=1)
        return over_root(x, np.tile(sums, (1, x.shape[1] // threads)) / D, weight)

    return normed


def _own_lane(x: Doubles, weight: Doubles) -> Doubles:
    """Each lane divides by the root of what downward shuffles leave in it, and only lane 0 has it all."""
    value = (x * x).reshape(x.shape[0], -1, _WARP).sum(axis=1)
    lane = np.arange(_WARP)
    for distance in (16, 8, 4, 2, 1):
        value = value + value[:, np.where(lane + distance < _WARP, lane + distance, lane)]
    return over_root(x, np.tile(value, (1, x.shape[1] // _WARP)) / D, weight)


def _running_in(rows: int) -> Formula:
    """The sum goes on through the rows of a block."""

    def normed(x: Doubles, weight: Doubles) -> Doubles:
        sums = np.concatenate([running(SUM, part * part) for part in _cut(x, rows)])
        return over_root(x, sums / D, weight)

    return normed


def _cut(x: Doubles, rows: int) -> list[Doubles]:
    return [x[begin : begin + rows] for begin in range(0, x.shape[0], rows)]


def _first_row(x: Doubles, weight: Doubles) -> Doubles:
    return np.repeat(over_root(x[:1], mean_square(x[:1]), weight), x.shape[0], axis=0)


def _root_of_first_row(x: Doubles, weight: Doubles) -> Doubles:
    return over_root(x, mean_square(x[:1]), weight)


_COLUMNS = {mistake.code: mistake for mistake in reductions.of_columns(_TREE_LESSON, {"sums": SUM})}

SUM_OF_SQUARES: tuple[Mistake, ...] = (
    replace(
        _COLUMNS["row-offset-missing"],
        hypotheses=(of(_first_row, "all of x"), of(_root_of_first_row, "the mean square only")),
    ),
    _shared(_COLUMNS["columns-past-block"]),
    _shared(_COLUMNS["end-column-missing"]),
    *(_shared(mistake) for mistake in reductions.of_tree(_TREE_LESSON, {"sums": SUM})),
    replace(
        reductions.not_reset(_TREE_LESSON, {"sums": SUM}),
        hypotheses=(
            of(_with_sum(running), "through all rows"),
            *(of(_running_in(rows), f"through {rows} rows") for rows in _ROWS_OF_A_BLOCK),
        ),
    ),
    Mistake(
        "partial-not-folded",
        "each thread uses its own partial sum",
        "Each thread divides by what it added itself; the block's partial sums are never put together.",
        _STEP,
        tuple(of(_own_partial(threads), f"of {threads} threads") for threads in _THREADS),
    ),
    Mistake(
        "warps-not-joined",
        "each warp uses its own sum",
        "The shuffles fold 32 lanes; the sums of the other warps of the row are never added.",
        _STEP,
        tuple(of(_own_warp(threads), f"of {threads} threads") for threads in _THREADS[1:]),
    ),
    Mistake(
        "lane-sum-not-shared",
        "every lane uses what a downward shuffle left in it",
        "After __shfl_down_sync only lane 0 has the whole sum, and every lane divides by its own.",
        _STEP,
        (of(_own_lane),),
    ),
)
