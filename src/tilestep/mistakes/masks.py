"""Mistakes of the causal mask, and of tiles that do not divide the length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilestep.mistakes.arithmetic import (
    TILES,
    Doubles,
    Mask,
    Packed,
    divide,
    empty_rows_zero,
    exp,
    finish,
    fp32,
    row_max,
    weigh,
    weights,
)
from tilestep.mistakes.named import Hypothesis, Mistake, each_tile, one


def _under(visible: Callable[[Packed], Mask]) -> Callable[[Packed], Doubles]:
    """Right attention under another mask."""

    def output(x: Packed) -> Doubles:
        mask = visible(x)
        return finish(weights(x.scores, mask), x.v, mask)

    return output


def _guarded(label: str, visible: Callable[[Packed], Mask]) -> tuple[Hypothesis, Hypothesis]:
    """A mask that leaves rows without a key: 0 / 0 there, or 0 where the kernel guards the division."""
    output = _under(visible)
    prefix = f"{label}, " if label else ""
    return (
        Hypothesis(f"{prefix}0 / 0 where no key is left", output),
        Hypothesis(f"{prefix}0 where no key is left", lambda x: empty_rows_zero(output(x))),
    )


def _per_tile(x: Packed, tile: int) -> Doubles:
    return _under(lambda y: y.reach(tile))(x)


def _local(x: Packed, tile: int) -> Doubles:
    return _under(lambda y: (y.j % tile <= y.i % tile) & (y.j // tile <= y.i // tile))(x)


def _masked_is_zero(x: Packed, tile: int) -> Doubles:
    touched = x.reach(tile)
    s = np.where(x.causal, x.scores, 0.0)
    return finish(weights(s, touched), x.v, touched)


def _masked_times_zero(x: Packed, tile: int) -> Doubles:
    return finish(weights(x.scores, x.causal), x.v, x.reach(tile))


def _before_tail(tile: int) -> Callable[[Packed], Mask]:
    return lambda x: x.causal & (x.j < x.T // tile * tile)


def _first_tile(tile: int) -> Callable[[Packed], Mask]:
    return lambda x: x.causal & (x.j < tile)


def _without_last(x: Packed) -> Mask:
    return x.causal & (x.j < x.T - 1)


def _padding_counts(tile: int, every_row: bool) -> Callable[[Packed], Doubles]:
    """Keys past the end enter the softmax with score 0 and value 0, for the rows that walk the last tile."""

    def output(x: Packed) -> Doubles:
        extra = -x.T % tile
        in_last_tile = every_row | (x.i >= x.T // tile * tile)
        padded = in_last_tile & np.bool_(extra > 0)
        largest = row_max(x.scores, x.causal)
        shift = np.where(padded, np.maximum(largest, 0.0), largest)
        p = weights(x.scores, x.causal, shift)
        total = p.sum(axis=-1, keepdims=True) + extra * exp(np.where(padded, -shift, -np.inf))
        return divide(weigh(p, x.v, x.causal), fp32(total))

    return output


MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "causal-leak",
        "there is no causal mask",
        "Every row attends to all keys, later ones too: the causal mask is missing.",
        "causal-attention",
        one(_under(lambda x: x.reach(0))),
    ),
    Mistake(
        "causal-strict",
        "a row does not see its own key",
        "The mask keeps j < i where it must keep j <= i: a row misses its own key, and row 0 has none.",
        "causal-attention",
        _guarded("", lambda x: x.j < x.i),
    ),
    Mistake(
        "causal-off-by-one",
        "a row sees the key after it",
        "The mask keeps j <= i + 1: every row sees one key too many.",
        "causal-attention",
        one(_under(lambda x: x.j <= x.i + 1)),
    ),
    Mistake(
        "causal-per-tile",
        "the mask works on whole tiles only",
        "Later tiles are skipped, but inside a row's own tile nothing is masked.",
        "online-attention",
        each_tile(_per_tile),
    ),
    Mistake(
        "causal-local-indices",
        "the mask compares positions inside the tile",
        "The mask compares the key's and the row's positions inside their tiles, in earlier tiles too.",
        "online-attention",
        each_tile(_local),
    ),
    Mistake(
        "causal-reversed",
        "the mask is upside down",
        "The mask keeps j >= i: every row sees itself and the future in place of the past.",
        "causal-attention",
        one(_under(lambda x: x.j >= x.i)),
    ),
    Mistake(
        "mask-to-zero",
        "masked scores are 0, not -infinity",
        "A masked score is set to 0, so its weight is exp(0 - max), not 0.",
        "causal-attention",
        (
            Hypothesis("all keys", lambda x: _masked_is_zero(x, 0)),
            *each_tile(_masked_is_zero),
        ),
    ),
    Mistake(
        "masked-times-zero",
        "masked keys are multiplied by 0",
        "The weight of a masked key is 0, but the product is still taken: 0 * NaN is NaN.",
        "causal-attention",
        (
            Hypothesis("all keys", lambda x: _masked_times_zero(x, 0)),
            *each_tile(_masked_times_zero),
        ),
    ),
    Mistake(
        "last-key-missing",
        "the loop ends one key early",
        "The key loop stops one short: a row's last key, or the sequence's, is never read.",
        "causal-attention",
        (
            Hypothesis("each row's last key, row 0 apart", _under(lambda x: x.j < np.maximum(x.i, 1))),
            *_guarded("the sequence's last key", _without_last),
        ),
    ),
    Mistake(
        "tail-dropped",
        "the last, partial tile is never processed",
        "Only whole tiles of keys are processed: T / tile rounds down and the keys of the rest are lost.",
        "online-attention",
        tuple(h for tile in TILES for h in _guarded(f"tile {tile}", _before_tail(tile))),
    ),
    Mistake(
        "tail-included",
        "keys past the end take part",
        "The last tile counts keys past T with score 0: the denominator is too large.",
        "online-attention",
        tuple(
            Hypothesis(f"tile {tile}{label}", _padding_counts(tile, every_row))
            for tile in TILES
            for label, every_row in ((", rows of the last tile", False), (", all rows", True))
        ),
    ),
    Mistake(
        "first-tile-only",
        "only the first tile of keys is processed",
        "The loop over tiles ends after the first: keys beyond it are never seen.",
        "online-attention",
        each_tile(lambda x, tile: _under(_first_tile(tile))(x)),
    ),
)
