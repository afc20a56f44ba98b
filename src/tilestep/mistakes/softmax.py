"""Mistakes of the scale, the maximum, the exponential and the division."""

from __future__ import annotations

import numpy as np

from tilestep.contract import D
from tilestep.mistakes.arithmetic import (
    SCALE,
    Doubles,
    Packed,
    divide,
    exp2,
    finish,
    fp32,
    row_max,
    weigh,
    weights,
)
from tilestep.mistakes.named import Hypothesis, Mistake, one

_LOG2E = float(np.log2(np.e))

_WRONG_SCALES = {
    "1/sqrt(512), the model width": 1.0 / np.sqrt(D),
    "1/sqrt(128), the width of all keys": 1.0 / np.sqrt(128.0),
    "1/sqrt(256)": 1.0 / 16.0,
    "1/sqrt(32)": 1.0 / np.sqrt(32.0),
    "1/sqrt(8), the number of heads": 1.0 / np.sqrt(8.0),
    "1/sqrt(768), the packed width": 1.0 / np.sqrt(768.0),
    "0.5": 0.5,
    "0.25": 0.25,
    "multiplied by 8": 8.0,
}
_CONSTANTS = (10.0, 16.0, 20.0, 32.0, 50.0, 64.0, 80.0)


def _scaled(factor: float) -> Hypothesis:
    label = next((name for name, scale in _WRONG_SCALES.items() if scale == factor), f"{factor:g}")
    return Hypothesis(label, lambda x: finish(weights(x.scores * (factor / SCALE), x.causal), x.v, x.causal))


def _shifted(label: str, constant: float) -> Hypothesis:
    return Hypothesis(label, lambda x: finish(weights(x.scores, x.causal, constant), x.v, x.causal))


def _max_at_zero(x: Packed) -> Doubles:
    shift = np.maximum(row_max(x.scores, x.causal), 0.0)
    return finish(weights(x.scores, x.causal, shift), x.v, x.causal)


def _max_not_scaled(x: Packed) -> Doubles:
    shift = row_max(x.scores, x.causal) / SCALE
    return finish(weights(x.scores, x.causal, shift), x.v, x.causal)


def _max_over_all(x: Packed) -> Doubles:
    return finish(weights(x.scores, x.causal, row_max(x.scores, x.reach(0))), x.v, x.causal)


def _max_of_first_key(x: Packed) -> Doubles:
    return finish(weights(x.scores, x.causal, x.scores[:, :, :1]), x.v, x.causal)


def _max_of_own_key(x: Packed) -> Doubles:
    shift = np.diagonal(x.scores, axis1=1, axis2=2)[:, :, None]
    return finish(weights(x.scores, x.causal, shift), x.v, x.causal)


def _exp2(x: Packed) -> Doubles:
    return finish(weights(x.scores, x.causal, base=exp2), x.v, x.causal)


def _log2e_twice(x: Packed) -> Doubles:
    return finish(weights(x.scores * _LOG2E, x.causal), x.v, x.causal)


def _not_divided(x: Packed) -> Doubles:
    acc = weigh(weights(x.scores, x.causal), x.v, x.causal)
    return divide(acc, np.ones_like(acc[:, :, :1]))


def _divided_twice(x: Packed) -> Doubles:
    p = weights(x.scores, x.causal)
    return divide(weigh(p, x.v, x.causal), fp32(p.sum(axis=-1, keepdims=True) ** 2))


def _uniform(x: Packed) -> Doubles:
    return finish(np.broadcast_to(x.causal, x.scores.shape).astype(np.float64), x.v, x.causal)


def _over_queries(x: Packed) -> Doubles:
    by_key = x.scores.transpose(0, 2, 1)
    p = weights(by_key, x.causal.T)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = p / p.sum(axis=-1, keepdims=True)
    acc = weigh(p.transpose(0, 2, 1), x.v, x.causal)
    return divide(acc, np.ones_like(acc[:, :, :1]))


def _over_heads(x: Packed) -> Doubles:
    largest = np.where(x.causal, x.scores, 0.0).max(axis=0, keepdims=True)
    p = weights(x.scores, x.causal, largest)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.where(x.causal, p / p.sum(axis=0, keepdims=True), 0.0)
    acc = weigh(p, x.v, x.causal)
    return divide(acc, np.ones_like(acc[:, :, :1]))


def _mask_after_softmax(of_all: bool) -> Hypothesis:
    def output(x: Packed) -> Doubles:
        everything = x.reach(0)
        shift = row_max(x.scores, everything if of_all else x.causal)
        total = weights(x.scores, everything, shift).sum(axis=-1, keepdims=True)
        return divide(weigh(weights(x.scores, x.causal, shift), x.v, x.causal), fp32(total))

    return Hypothesis("maximum of all keys" if of_all else "maximum of the visible keys", output)


MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "scale-missing",
        "the scale is missing",
        "The scores are not divided by sqrt(DH) = 8: every logit is 8 times too large.",
        "causal-attention",
        one(lambda x: finish(weights(x.scores / SCALE, x.causal), x.v, x.causal)),
    ),
    Mistake(
        "scale-twice",
        "the scale is applied twice",
        "The scores are divided by 64, not by sqrt(DH) = 8: every logit is 8 times too small.",
        "causal-attention",
        one(lambda x: finish(weights(x.scores * SCALE, x.causal), x.v, x.causal)),
    ),
    Mistake(
        "scale-wrong-constant",
        "the scale is a wrong constant",
        "The scores are scaled, but not by 1 / sqrt(DH) = 1/8.",
        "causal-attention",
        tuple(_scaled(scale) for scale in _WRONG_SCALES.values()),
    ),
    Mistake(
        "no-max-subtraction",
        "the maximum is not subtracted",
        "exp is taken of the raw scores: past 88 it overflows to infinity, below -104 it is 0.",
        "stable-softmax",
        (_shifted("", 0.0),),
    ),
    Mistake(
        "max-starts-at-zero",
        "the running maximum starts at 0",
        "The maximum starts at 0, not at -infinity: where all scores are far below 0 every exp vanishes.",
        "stable-softmax",
        one(_max_at_zero),
    ),
    Mistake(
        "constant-max",
        "a constant stands in for the maximum",
        "A fixed number is subtracted in place of the row's maximum: scores far from it overflow or vanish.",
        "stable-softmax",
        tuple(_shifted(f"{constant:g}", constant) for constant in _CONSTANTS),
    ),
    Mistake(
        "max-not-scaled",
        "the maximum is of the unscaled scores",
        "The maximum is taken before the scale: the shift is 8 times too large, exp vanishes or overflows.",
        "stable-softmax",
        one(_max_not_scaled),
    ),
    Mistake(
        "max-is-one-score",
        "one score stands in for the maximum",
        "A single score of the row is subtracted, not the largest: a score 88 above it overflows exp.",
        "block-max",
        (
            Hypothesis("the first key's", _max_of_first_key),
            Hypothesis("the row's own key's", _max_of_own_key),
        ),
    ),
    Mistake(
        "max-over-masked-keys",
        "the maximum includes masked keys",
        "The maximum is taken over keys that the mask hides: a large hidden score makes every exp vanish.",
        "causal-attention",
        one(_max_over_all),
    ),
    Mistake(
        "exp2-without-log2e",
        "exp2 without log2(e)",
        "exp2 is taken of scores that were not multiplied by log2(e): the base is 2, not e.",
        "stable-softmax",
        one(_exp2),
    ),
    Mistake(
        "log2e-twice",
        "log2(e) is applied twice",
        "log2(e) is folded into the scale, but exp is to the base e: every logit is 1.44 times too large.",
        "stable-softmax",
        one(_log2e_twice),
    ),
    Mistake(
        "no-normalisation",
        "the division by the denominator is missing",
        "The weighted sum of V is written without the division by the sum of the weights.",
        "online-softmax",
        one(_not_divided),
    ),
    Mistake(
        "normalised-twice",
        "the division by the denominator happens twice",
        "The output is divided by the sum of the weights two times.",
        "online-softmax",
        one(_divided_twice),
    ),
    Mistake(
        "uniform-weights",
        "every visible key weighs the same",
        "The output is the plain mean of the visible values: the scores have no effect.",
        "causal-attention",
        one(_uniform),
    ),
    Mistake(
        "softmax-wrong-axis",
        "the softmax runs along a wrong axis",
        "The weights sum to 1 over the queries or over the heads, not over the keys of one row.",
        "block-softmax",
        (Hypothesis("over the queries", _over_queries), Hypothesis("over the heads", _over_heads)),
    ),
    Mistake(
        "mask-after-softmax",
        "the mask comes after the softmax",
        "The denominator counts the keys that the mask hides: the visible weights do not sum to 1.",
        "causal-attention",
        (_mask_after_softmax(True), _mask_after_softmax(False)),
    ),
)
