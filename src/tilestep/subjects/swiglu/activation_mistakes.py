"""Mistakes between the two projections and the output: which of them goes through silu, and what silu is."""

from __future__ import annotations

from math import erf

import numpy as np

from tilestep.mistakes.arithmetic import Doubles, exp, exp2, fp32
from tilestep.mistakes.named import Hypothesis, Mistake
from tilestep.subjects.swiglu.projected import Formula, on, sigmoid, silu

_STEP = "swiglu"
_LOG2E = float(np.log2(np.e))


def _way(label: str, formula: Formula) -> Hypothesis:
    return Hypothesis(label, on(lambda g, u: fp32(formula(g, u))))


def _gelu(x: Doubles) -> Doubles:
    return np.asarray(0.5 * x * (1.0 + np.vectorize(erf, otypes=[np.float64])(x / np.sqrt(2.0))))


def _gelu_tanh(x: Doubles) -> Doubles:
    return np.asarray(0.5 * x * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3))))


def _overflowing(x: Doubles) -> Doubles:
    """x e^x / (1 + e^x): infinity over infinity where exp overflows."""
    return np.asarray(fp32(x * exp(x)) / (1.0 + exp(x)))


def _in_half(x: Doubles) -> Doubles:
    return x.astype(np.float16).astype(np.float64)


ACTIVATION: tuple[Mistake, ...] = (
    Mistake(
        "gate-up-swapped",
        "gate and up are swapped",
        "silu is applied to up, and gate is multiplied in bare.",
        _STEP,
        (_way("", lambda g, u: g * silu(u)),),
    ),
    Mistake(
        "silu-of-product",
        "silu is applied to the product",
        "The output is silu(gate * up); silu belongs to the gate alone, before the product.",
        _STEP,
        (_way("", lambda g, u: silu(fp32(g * u))),),
    ),
    Mistake(
        "silu-on-both",
        "silu is applied to gate and up",
        "Both projections go through silu; up is multiplied in bare.",
        _STEP,
        (_way("", lambda g, u: silu(g) * silu(u)),),
    ),
    Mistake(
        "silu-missing",
        "gate is not activated",
        "The output is gate * up: silu is missing.",
        _STEP,
        (_way("", lambda g, u: g * u),),
    ),
    Mistake(
        "silu-twice",
        "silu is applied twice",
        "The gate goes through silu two times.",
        _STEP,
        (_way("", lambda g, u: silu(silu(g)) * u),),
    ),
    Mistake(
        "sigmoid-for-silu",
        "the sigmoid stands in for silu",
        "silu(x) is x * sigmoid(x); the factor x is missing.",
        _STEP,
        (_way("", lambda g, u: sigmoid(g) * u),),
    ),
    Mistake(
        "other-activation",
        "another activation stands in for silu",
        "The gate goes through GELU, ReLU or tanh.",
        _STEP,
        (
            _way("GELU", lambda g, u: _gelu(g) * u),
            _way("GELU by tanh", lambda g, u: _gelu_tanh(g) * u),
            _way("GELU by a sigmoid", lambda g, u: g * sigmoid(1.702 * g) * u),
            _way("ReLU", lambda g, u: np.maximum(g, 0.0) * u),
            _way("tanh", lambda g, u: np.tanh(g) * u),
        ),
    ),
    Mistake(
        "silu-exponent-sign",
        "the exponent of silu has the wrong sign",
        "The sigmoid is 1 / (1 + exp(-x)); with exp(x) it falls where it should rise.",
        _STEP,
        (_way("", lambda g, u: g * sigmoid(-g) * u),),
    ),
    Mistake(
        "silu-overflow",
        "silu is infinity over infinity",
        "x * exp(x) / (1 + exp(x)) is NaN past 88, where exp overflows; 1 / (1 + exp(-x)) goes to 1 or 0.",
        _STEP,
        (
            _way("", lambda g, u: _overflowing(g) * u),
            _way("gate and up multiplied first", lambda g, u: fp32(fp32(g * u) * exp(g)) / (1.0 + exp(g))),
        ),
    ),
    Mistake(
        "exp2-without-log2e",
        "exp2 without log2(e)",
        "exp2 is taken of a value that was not multiplied by log2(e): the base is 2, not e.",
        "stable-softmax",
        (_way("", lambda g, u: g / (1.0 + exp2(-g)) * u),),
    ),
    Mistake(
        "up-missing",
        "up is missing",
        "The output is made of the gate alone: up is not multiplied in.",
        _STEP,
        (_way("silu(gate)", lambda g, u: silu(g)), _way("gate", lambda g, u: g)),
    ),
    Mistake(
        "gate-missing",
        "gate is missing",
        "The output is made of up alone.",
        _STEP,
        (_way("up", lambda g, u: u), _way("silu(up)", lambda g, u: silu(u))),
    ),
    Mistake(
        "one-weight-for-both",
        "one weight is used for both projections",
        "gate and up come from the same matrix.",
        _STEP,
        (_way("wGate", lambda g, u: silu(g) * g), _way("wUp", lambda g, u: silu(u) * u)),
    ),
    Mistake(
        "added-not-multiplied",
        "gate and up are added",
        "The output is silu(gate) + up; they are multiplied.",
        _STEP,
        (_way("", lambda g, u: silu(g) + u),),
    ),
    Mistake(
        "up-starts-from-gate",
        "up's sum starts from gate's",
        "The accumulator is used for both dot products and not reset between them.",
        _STEP,
        (
            _way("", lambda g, u: silu(g) * (g + u)),
            _way("gate goes on from up", lambda g, u: silu(g + u) * u),
        ),
    ),
    Mistake(
        "product-in-half",
        "the product is kept in half precision",
        "silu(gate) * up is stored as a half: past 65504 it is infinite.",
        _STEP,
        (_way("", lambda g, u: _in_half(silu(g) * u)),),
    ),
)
