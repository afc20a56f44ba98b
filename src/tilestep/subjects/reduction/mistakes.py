"""Mistakes of the split into threads and of the tree: they spoil a sum and a maximum alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilestep.mistakes import Hypothesis, Mistake, Output
from tilestep.subjects.protocol import Case
from tilestep.subjects.reduction import folds
from tilestep.subjects.reduction.folds import Fold, Wrong

Folds = Mapping[str, Fold]  # what the seam writes: an output tensor, and the fold that gives it
Ways = Sequence[tuple[str, Wrong]]  # a label, and what is computed

BLOCKS = (64, 128, 256, 512, 1024)  # threads
ODD_BLOCKS = (
    96,
    100,
    160,
    192,
    200,
    224,
    288,
    300,
    320,
    384,
    448,
    480,
    500,
    576,
    640,
    768,
    800,
    896,
    960,
    1000,
)
_GROUPS = (2, 4, 8, 16, 32, *BLOCKS)  # vectors, warps and blocks that a row may be cut into


def mistake(code: str, title: str, says: str, lesson: str, outputs: Folds, ways: Ways) -> Mistake:
    """A mistake with a hypothesis for each way to make it and each choice of the outputs that it spoils."""
    hypotheses = [
        _hypothesis(label, wrong, outputs, tensors) for label, wrong in ways for tensors in _choices(outputs)
    ]
    return Mistake(code, title, says, lesson, tuple(hypotheses))


def _choices(outputs: Folds) -> list[tuple[str, ...]]:
    """All outputs together, then each alone."""
    every = tuple(outputs)
    return [every] if len(every) == 1 else [every, *((name,) for name in every)]


def _hypothesis(label: str, wrong: Wrong, outputs: Folds, tensors: tuple[str, ...]) -> Hypothesis:
    def output(case: Case) -> Output:
        return {name: wrong(outputs[name], case["matrix"]) for name in tensors}

    only = "" if len(tensors) == len(outputs) else f"{' and '.join(tensors)} only"
    return Hypothesis(", ".join(part for part in (label, only) if part), output)


def of_columns(lesson: str, outputs: Folds) -> tuple[Mistake, ...]:
    """Columns that no thread reads, or that are read elsewhere."""
    return (
        mistake(
            "columns-past-block",
            "columns past the first stride are never read",
            "Each thread takes one column; the row goes on, and nobody comes back for the rest.",
            lesson,
            outputs,
            [(f"the first {count}", folds.first(count)) for count in (32, *BLOCKS)],
        ),
        mistake(
            "tail-dropped",
            "the last, partial stride is never read",
            "The number of strides is rounded down, so the columns after the last whole one are left out.",
            lesson,
            outputs,
            [(f"strides of {count}", folds.whole(count)) for count in _GROUPS],
        ),
        mistake(
            "end-column-missing",
            "the first or the last column is left out",
            "The loop starts one column late or ends one column early.",
            lesson,
            outputs,
            [("the last column", folds.without_last), ("the first column", folds.without_first)],
        ),
        mistake(
            "row-offset-missing",
            "every row gets the value of row 0",
            "The row's offset, row * columns, is missing where x is read.",
            lesson,
            outputs,
            [("", folds.of_row_zero)],
        ),
        mistake(
            "read-by-columns",
            "the matrix is read as if it lay column after column",
            "Element (row, column) stands at row * columns + column; it is read at column * rows + row.",
            lesson,
            outputs,
            [("", folds.read_by_columns)],
        ),
    )


def not_reset(lesson: str, outputs: Folds) -> Mistake:
    """One thread, warp or block folds several rows."""
    return mistake(
        "accumulator-not-reset",
        "the accumulator goes on from row to row",
        "The accumulator is not set to its neutral element for a new row, so a row holds all before it too.",
        lesson,
        outputs,
        [("", folds.running)],
    )


def of_tree(lesson: str, outputs: Folds) -> tuple[Mistake, ...]:
    """Partial results of a block's threads that get lost on the way to thread 0."""
    return (
        mistake(
            "one-thread-partial",
            "one thread's partial result is stored",
            "Thread 0 stores what it folded itself; the other threads' partial results never reach it.",
            lesson,
            outputs,
            [(f"of {count} threads", folds.one_of(count)) for count in BLOCKS],
        ),
        mistake(
            "first-warp-only",
            "only the first warp's result arrives",
            "Each warp folds its own lanes, but only warp 0's result is stored: the others are lost.",
            lesson,
            outputs,
            [(f"of {count} threads", folds.low_part(32, count)) for count in BLOCKS],
        ),
        mistake(
            "tree-level-missing",
            "a level of the tree is missing",
            "The tree starts below half of the block, or stops before it has folded leaf 1 onto leaf 0.",
            lesson,
            outputs,
            [
                ("the last level", folds.one_of(2)),
                ("the last two levels", folds.one_of(4)),
                ("the levels inside a warp", folds.one_of(32)),
                *((f"the first level of {n}", folds.low_part(n // 2, n)) for n in BLOCKS[1:]),
            ],
        ),
        mistake(
            "tree-not-power-of-two",
            "the tree halves an odd number of leaves",
            "The block is no power of two: where the tree halves an odd number, its last leaf is lost.",
            lesson,
            outputs,
            [(f"{count} threads", folds.halving_tree(count)) for count in ODD_BLOCKS],
        ),
    )


def of_warp(lesson: str, outputs: Folds) -> tuple[Mistake, ...]:
    """Lanes whose values get lost on the way to lane 0."""
    return (
        mistake(
            "one-lane-partial",
            "one lane's partial result is stored",
            "Lane 0 stores what it folded itself; the other lanes' partial results never reach it.",
            lesson,
            outputs,
            [("", folds.one_of(32))],
        ),
        mistake(
            "half-warp-only",
            "only half of the warp is folded",
            "The shuffles stay within 16 lanes: a width of 16, or distances that start at 8.",
            lesson,
            outputs,
            [
                ("distances from 8", folds.low_part(16, 32)),
                ("width 16, distances from 16", folds.low_part_twice(16, 32)),
            ],
        ),
        mistake(
            "shuffle-level-missing",
            "the last shuffles are missing",
            "The distances stop before 1, so lane 0 has the values of some lanes only.",
            lesson,
            outputs,
            [("16 to 2", folds.one_of(2)), ("16 to 4", folds.one_of(4)), ("16 and 8", folds.one_of(8))],
        ),
        mistake(
            "result-of-wrong-lane",
            "the result is taken from a lane that does not hold it",
            "After __shfl_down_sync only lane 0 holds the whole result; another lane's value is stored.",
            lesson,
            outputs,
            [(f"lane {lane}", folds.of_lane(lane)) for lane in (1, 31)],
        ),
    )
