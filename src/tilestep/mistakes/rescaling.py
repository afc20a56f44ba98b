"""Mistakes of the online update: m, alpha, l, acc."""

from __future__ import annotations

from tilestep.mistakes.arithmetic import Doubles, Packed
from tilestep.mistakes.named import Hypothesis, Mistake, each_tile
from tilestep.mistakes.online import Update, run


def _with(update: Update, label: str = "tile {}") -> tuple[Hypothesis, ...]:
    def output(packed: Packed, tile: int) -> Doubles:
        return run(packed, tile, update)

    return each_tile(output, label=label)


MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "alpha-missing-on-l",
        "alpha is missing on the denominator",
        "When the running maximum moves, acc is rescaled by alpha and l is not.",
        "online-softmax",
        _with(Update(alpha_on_l=0)),
    ),
    Mistake(
        "alpha-missing-on-acc",
        "alpha is missing on the accumulator",
        "When the running maximum moves, l is rescaled by alpha and acc is not.",
        "online-softmax",
        _with(Update(alpha_on_acc=0)),
    ),
    Mistake(
        "alpha-missing",
        "alpha is missing altogether",
        "When the maximum moves, neither l nor acc is rescaled: sums with different shifts are added.",
        "online-softmax",
        _with(Update(alpha_on_l=0, alpha_on_acc=0)),
    ),
    Mistake(
        "alpha-inverted",
        "alpha is inverted",
        "alpha is exp(m_new - m_old), at least 1; it is exp(m_old - m_new), at most 1.",
        "online-softmax",
        _with(Update(alpha_on_l=-1, alpha_on_acc=-1)),
    ),
    Mistake(
        "alpha-twice",
        "alpha is applied twice",
        "What earlier tiles added is rescaled by alpha two times.",
        "online-softmax",
        (
            *_with(Update(alpha_on_acc=2), label="tile {}, on acc"),
            *_with(Update(alpha_on_l=2), label="tile {}, on l"),
            *_with(Update(alpha_on_l=2, alpha_on_acc=2), label="tile {}, on both"),
        ),
    ),
    Mistake(
        "normalised-each-tile",
        "the division by l happens in every tile",
        "acc is divided by l after every tile; l divides once, at the end.",
        "online-softmax",
        (
            *_with(Update(divide_each_tile=True, divide_at_end=False)),
            *_with(Update(divide_each_tile=True), label="tile {}, and at the end"),
        ),
    ),
    Mistake(
        "m-not-updated",
        "the running maximum is not stored",
        "m_new is computed but m never takes it: every tile starts over and the earlier ones are lost.",
        "online-softmax",
        _with(Update(stored_max="never")),
    ),
    Mistake(
        "max-of-first-tile",
        "the maximum is that of the first tile",
        "The maximum is set in the first tile and kept: a score 88 above it overflows exp.",
        "online-softmax",
        _with(Update(stored_max="first")),
    ),
    Mistake(
        "weights-from-tile-max",
        "the weights use the tile's own maximum",
        "exp(score - m_tile) is added where exp(score - m_new) belongs: a lower tile weighs too much.",
        "online-softmax",
        _with(Update(weights_from_tile_max=True)),
    ),
    Mistake(
        "l-from-last-tile-only",
        "the denominator is overwritten by each tile",
        "l takes the tile's sum in place of alpha * l plus it: the denominator is the last tile's only.",
        "online-softmax",
        _with(Update(keep_l=False)),
    ),
    Mistake(
        "acc-from-last-tile-only",
        "the accumulator is overwritten by each tile",
        "acc takes the tile's sum in place of alpha * acc plus it: the output is the last tile's only.",
        "online-softmax",
        _with(Update(keep_acc=False)),
    ),
)
