"""Mistakes of the two dot products: where weights and rows are read, and how far the sums go."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilestep.contract import D, F
from tilestep.mistakes.arithmetic import Doubles, fp32
from tilestep.mistakes.named import Hypothesis, Mistake
from tilestep.subjects.swiglu.projected import Projected, silu

_STEP = "swiglu"
_TILES = (4, 8, 16, 32, 64, 128, 256)


def _made(gate: Doubles, up: Doubles) -> Doubles:
    return fp32(silu(gate) * up)


def _over(begin: int, end: int) -> Callable[[Projected], Doubles]:
    """Only the terms [begin, end) of each dot product are summed."""
    return lambda given: _made(*given.over(begin, end))


def _rows(pick: Callable[[Doubles], Doubles]) -> Callable[[Projected], Doubles]:
    """The right outputs, or other rows of them."""
    return lambda given: pick(_made(given.gate, given.up))


def _columns_shifted(given: Projected) -> Doubles:
    """Output o is made from weight row o + 1, the last one from the last row."""
    right = _made(given.gate, given.up)
    return np.concatenate([right[:, 1:], right[:, -1:]], axis=1)


def _row_zero(right: Doubles) -> Doubles:
    return np.repeat(right[:1], right.shape[0], axis=0)


def _by_columns(right: Doubles) -> Doubles:
    """Written at column * T + row."""
    return np.ascontiguousarray(right.T).reshape(right.shape)


PROJECTION: tuple[Mistake, ...] = (
    Mistake(
        "weight-transposed",
        "the weight is read transposed",
        "Weights lie [out, in], one row an output; they are read as if they lay [in, out].",
        _STEP,
        (
            Hypothesis("both", lambda given: _made(given.gate_transposed, given.up_transposed)),
            Hypothesis("wGate", lambda given: _made(given.gate_transposed, given.up)),
            Hypothesis("wUp", lambda given: _made(given.gate, given.up_transposed)),
        ),
    ),
    Mistake(
        "inner-sum-truncated",
        "the sum leaves out part of the inner dimension",
        f"Each dot product sums {D} products; the loop ends early, or starts late.",
        _STEP,
        (
            Hypothesis("all but the last", _over(0, D - 1)),
            Hypothesis("all but the first", _over(1, D)),
            *(Hypothesis(f"all but the last {tile}", _over(0, D - tile)) for tile in _TILES),
            *(Hypothesis(f"all but the first {tile}", _over(tile, D)) for tile in _TILES),
            *(Hypothesis(f"only the first {tile}", _over(0, tile)) for tile in _TILES if tile < D // 2),
        ),
    ),
    Mistake(
        "inner-tile-overwrites",
        "only the last tile of the inner dimension counts",
        "The sums are set back in every tile, so what is stored is the last tile's part alone.",
        _STEP,
        tuple(Hypothesis(f"tile {tile}", _over(D - tile, D)) for tile in _TILES if tile < D // 2),
    ),
    Mistake(
        "row-offset-missing",
        "every row gets the value of row 0",
        "The row's offset, row * columns, is missing where x is read.",
        "block-sum",
        (Hypothesis("", _rows(_row_zero)),),
    ),
    Mistake(
        "output-transposed",
        "the output is stored column after column",
        f"Output (row, column) belongs at row * {F} + column; it is stored at column * T + row.",
        _STEP,
        (Hypothesis("", _rows(_by_columns)),),
    ),
    Mistake(
        "weight-row-shifted",
        "each output uses its neighbour's weights",
        "Output o is made from weight row o + 1.",
        _STEP,
        (Hypothesis("", _columns_shifted),),
    ),
)
