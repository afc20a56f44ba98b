"""Mistakes of the packed projection, most specific first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tilestep.case import Case
from tilestep.contract import DH, KV
from tilestep.mistakes import Hypothesis, Mistake, Observation
from tilestep.mistakes.patterns import not_written, zeros
from tilestep.subjects.projection import products
from tilestep.subjects.projection.products import INNER, K, Q, V, Wrong, of_inner, of_weight_rows, slabs

_STEP = "qkv-projection"
_LOST = 2.0**-6  # at the sum of magnitudes: what a few bf16 additions lose
_LEAST_SHARE = 0.02
_HALF_MAX = 65504.0
_LANES = 32
_TILES = (8, 16, 32, 64)
_WIDE_TILES = (*_TILES, 128, 256)
_BLOCKS = (64, 128, 256, 384)


def _columns_missing(seen: Observation) -> bool:
    """The wrong elements are unwritten, and they are whole columns at the end."""
    blank = seen.unwritten[seen.rows]
    whole = np.asarray(blank.all(axis=0))
    rest = ~whole[: int(np.argmax(whole))] if whole.any() else np.zeros(0, dtype=bool)
    at_the_end = rest.size > 0 and int(whole.sum()) == whole.size - rest.size
    return at_the_end and bool(np.array_equal(seen.wrong[seen.rows], np.broadcast_to(whole, blank.shape)))


def _unwritten_elsewhere(seen: Observation) -> bool:
    """The wrong elements are unwritten, and are not just the last columns: those have a name of their own."""
    return bool(np.all(seen.unwritten[seen.wrong])) and not _columns_missing(seen)


def _few_bits(seen: Observation) -> bool | None:
    """Errors at the scale of a sum's magnitudes, or infinities where a half overflows."""
    if not isinstance(seen.given, Case):
        return None
    x, weight = (np.abs(operand) for operand in products.operands(seen.given))
    size = x @ weight.T
    with np.errstate(invalid="ignore"):
        small = np.abs(seen.got - seen.want) <= _LOST * size
    overflowed = ~np.isfinite(seen.got) & ~seen.unwritten & (size > _HALF_MAX)
    if not bool(np.all((small | overflowed)[seen.rows])):
        return False
    return True if float(np.mean(seen.wrong)) >= _LEAST_SHARE else None


def _mistake(code: str, title: str, says: str, ways: Sequence[tuple[str, Wrong]]) -> Mistake:
    return Mistake(code, title, says, _STEP, tuple(Hypothesis(label, wrong) for label, wrong in ways))


MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "slab-rows-missing",
        "the last columns are never written",
        "The grid covers part of the 768 columns: the slabs behind it, V and perhaps K, are not written.",
        _STEP,
        pattern=_columns_missing,
    ),
    replace(not_written(_STEP), pattern=_unwritten_elsewhere),
    zeros(_STEP),
    _mistake(
        "weight-transposed",
        "the weights are read as [in, out]",
        "Weight (column, i) stands at column * 512 + i; it is read at i * 768 + column.",
        [("", products.weight_as_in_out)],
    ),
    _mistake(
        "tile-transposed",
        "a tile of the weights is read across",
        "Within each shared tile of the weights row and column are exchanged between writing and reading.",
        [(f"tile {tile}", products.transposed_in_tile(tile)) for tile in _TILES],
    ),
    _mistake(
        "slab-order",
        "the slabs stand in another order",
        "The columns are Q, then K, then V; the slabs are right, and stand in each other's place.",
        [
            ("Q, V, K", of_weight_rows(slabs(Q, V, K))),
            ("K, Q, V", of_weight_rows(slabs(K, Q, V))),
            ("K, V, Q", of_weight_rows(slabs(K, V, Q))),
            ("V, Q, K", of_weight_rows(slabs(V, Q, K))),
            ("V, K, Q", of_weight_rows(slabs(V, K, Q))),
        ],
    ),
    _mistake(
        "slabs-interleaved",
        "the slabs are interleaved by heads",
        "All of Q comes first, then all of K, then all of V; here the heads of a group stand together.",
        [
            ("a group's queries, its key, its value", of_weight_rows(products.grouped_heads())),
            ("K and V heads alternate", of_weight_rows(products.alternating_heads())),
        ],
    ),
    _mistake(
        "slab-offset-missing",
        "a slab is made with another slab's weights",
        "The weight's row is counted within the slab: K starts at row 512 of the weights, V at row 640.",
        [
            ("K and V with Q's", of_weight_rows(slabs(Q, Q[:KV], Q[:KV]))),
            ("K with Q's", of_weight_rows(slabs(Q, Q[:KV], V))),
            ("V with Q's", of_weight_rows(slabs(Q, K, Q[:KV]))),
            ("V with K's", of_weight_rows(slabs(Q, K, K))),
            ("K with V's", of_weight_rows(slabs(Q, V, V))),
        ],
    ),
    _mistake(
        "inner-sum-truncated",
        "the sum leaves out part of the inner dimension",
        "Each output sums 512 products; the loop ends early, or starts late.",
        [
            *((f"the first {n}", of_inner(INNER[:n])) for n in (*_WIDE_TILES, 384, 448, 480, 496, 504, 508)),
            ("all but the last", of_inner(INNER[:-1])),
            ("all but the first", of_inner(INNER[1:])),
        ],
    ),
    _mistake(
        "inner-tile-overwrites",
        "only the last tile of the inner dimension counts",
        "The sum is set back in every tile, so what is stored is the last tile's part alone.",
        [(f"tile {tile}", of_inner(INNER[-tile:])) for tile in _WIDE_TILES],
    ),
    _mistake(
        "one-lane-partial",
        "one lane's partial sum is stored",
        "The inner dimension is dealt out over a warp, and lane 0 stores its own part: 31 parts are lost.",
        [
            ("each lane a column", of_inner(INNER[::_LANES])),
            ("each lane four columns", of_inner(INNER[INNER // 4 % _LANES == 0])),
        ],
    ),
    _mistake(
        "tile-not-advanced",
        "every tile reads the first tile's columns",
        "The tile's start is missing from an index: the same columns of x or of the weights are read again.",
        [
            *((f"tile {tile}, both", of_inner(INNER % tile)) for tile in _WIDE_TILES),
            *((f"tile {tile}, x only", of_inner(INNER % tile, INNER)) for tile in _WIDE_TILES),
            *((f"tile {tile}, the weights only", of_inner(INNER, INNER % tile)) for tile in _WIDE_TILES),
        ],
    ),
    _mistake(
        "row-offset-missing",
        "every token gets the values of token 0",
        "The token's offset, token * 512, is missing where x is read.",
        [("", products.of_token_zero)],
    ),
    _mistake(
        "output-transposed",
        "the output is stored column after column",
        "Element (token, column) belongs at token * 768 + column; it is stored at column * T + token.",
        [("", products.in_rows_of_columns)],
    ),
    _mistake(
        "sum-carried-over",
        "the sum goes on from output to output",
        "A thread makes several outputs and does not set its sum to 0 between them.",
        [(f"{stride} columns further", products.carried_over(stride)) for stride in _BLOCKS],
    ),
    _mistake(
        "q-scaled-early",
        "Q carries attention's scale already",
        "Q's columns are multiplied by 1 / sqrt(64); attention scales its scores, so it would count twice.",
        [
            ("", products.scaled_q(DH**-0.5)),
            ("with log2(e)", products.scaled_q(DH**-0.5 * float(np.log2(np.e)))),
        ],
    ),
    Mistake(
        "low-precision",
        "arithmetic below fp32",
        "The errors are small and everywhere, as TF32, bf16 or fp16 make them: bits of fp32 are lost.",
        _STEP,
        pattern=_few_bits,
        fallback=True,
    ),
)
