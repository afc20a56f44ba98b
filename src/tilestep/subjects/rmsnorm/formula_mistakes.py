"""Mistakes of RMSNorm's formula: the mean square, epsilon, the root, the weight."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilestep.contract import RMS_EPS, D, F
from tilestep.mistakes.arithmetic import Doubles, fp32
from tilestep.mistakes.named import Hypothesis, Mistake, one
from tilestep.subjects.protocol import Case

_STEP = "rmsnorm"
_WRONG_EPSILONS = (1e-3, 1e-4, 1e-6, 1e-7, 1e-8, 1e-12)
_WRONG_WIDTHS = (32, 64, 128, 256, 768, 1024, F, D - 1, D + 1)
_STRIDES = (32, 64, 128, 256)  # threads, where the weight is read at the thread's number

Formula = Callable[[Doubles, Doubles], Doubles]  # x [T, D], weight [1, D]


def mean_square(x: Doubles) -> Doubles:
    """The mean square of each row, [T, 1]."""
    mean: Doubles = np.mean(x * x, axis=1, keepdims=True)
    return mean


def over_root(x: Doubles, square: Doubles, weight: Doubles, eps: float = RMS_EPS) -> Doubles:
    """x over the root of what stands for its mean square [T, 1], times the weight."""
    return fp32(x / np.sqrt(square + eps) * weight)


def of(formula: Formula, label: str = "") -> Hypothesis:
    """The hypothesis that a formula of x and the weight was computed."""

    def output(case: Case) -> Doubles:
        return formula(case["x"], case["norm_weight"])

    return Hypothesis(label, output)


def _only(formula: Formula) -> tuple[Hypothesis, ...]:
    return (of(formula),)


def _layer_norm(x: Doubles, weight: Doubles) -> Doubles:
    centred = x - x.mean(axis=1, keepdims=True)
    return over_root(centred, mean_square(centred), weight)


def _variance(x: Doubles, weight: Doubles) -> Doubles:
    return over_root(x, x.var(axis=1, keepdims=True), weight)


def _centred_above(x: Doubles, weight: Doubles) -> Doubles:
    return over_root(x - x.mean(axis=1, keepdims=True), mean_square(x), weight)


def _mean_of_magnitudes(x: Doubles, weight: Doubles) -> Doubles:
    return fp32(x / (np.abs(x).mean(axis=1, keepdims=True) + RMS_EPS) * weight)


def _root_of_magnitudes(x: Doubles, weight: Doubles) -> Doubles:
    return over_root(x, np.abs(x).mean(axis=1, keepdims=True), weight)


def _root_of_mean(x: Doubles, weight: Doubles) -> Doubles:
    return over_root(x, x.mean(axis=1, keepdims=True), weight)


def _divided_by(width: float, label: str) -> Hypothesis:
    return of(lambda x, w: over_root(x, mean_square(x) * (D / width), w), label)


def _by_rows(case: Case) -> Doubles:
    x = case["x"]
    return over_root(x, mean_square(x) * (D / case.length), case["norm_weight"])


def _eps(eps: float) -> Hypothesis:
    return of(lambda x, w: over_root(x, mean_square(x), w, eps), f"{eps:g}")


def _eps_on_sum(x: Doubles, weight: Doubles) -> Doubles:
    return over_root(x, mean_square(x), weight, RMS_EPS / D)


def _eps_as_floor(x: Doubles, weight: Doubles) -> Doubles:
    return over_root(x, np.maximum(mean_square(x), RMS_EPS), weight, 0.0)


def _half_squares(x: Doubles, weight: Doubles) -> Doubles:
    half = x.astype(np.float16).astype(np.float64)
    squares = (half * half).astype(np.float16).astype(np.float64)
    return over_root(x, squares.mean(axis=1, keepdims=True), weight)


def _plain(x: Doubles, weight: Doubles) -> Doubles:
    return over_root(x, mean_square(x), weight)


def _without_weight(x: Doubles, weight: Doubles) -> Doubles:
    return _plain(x, np.ones_like(weight))


def _twice(x: Doubles, weight: Doubles) -> Doubles:
    return _plain(_plain(x, weight), weight)


def _weight_of_row(x: Doubles, weight: Doubles) -> Doubles:
    row = np.arange(x.shape[0]) % weight.shape[1]
    return fp32(_without_weight(x, weight) * weight[0, row][:, None])


def _weight_of_thread(threads: int) -> Formula:
    return lambda x, w: _plain(x, w[:, np.arange(w.shape[1]) % threads])


FORMULA: tuple[Mistake, ...] = (
    Mistake(
        "norm-missing",
        "the row is not normalised",
        "The output is x times the weight: the root mean square has no effect.",
        _STEP,
        _only(lambda x, w: fp32(x * w)),
    ),
    Mistake(
        "mean-subtracted",
        "the mean is subtracted",
        "RMSNorm leaves the row's mean in; LayerNorm takes it off, in the value, in the square, or in both.",
        _STEP,
        (
            of(_layer_norm, "LayerNorm"),
            of(_variance, "in the square only"),
            of(_centred_above, "in the value only"),
        ),
    ),
    Mistake(
        "mean-not-squared",
        "the mean is not that of the squares",
        "The values or their magnitudes are averaged, not their squares.",
        _STEP,
        (
            of(_mean_of_magnitudes, "mean of the magnitudes"),
            of(_root_of_magnitudes, "root of the mean magnitude"),
            of(_root_of_mean, "root of the mean"),
        ),
    ),
    Mistake(
        "sum-for-mean",
        "the sum of squares is not divided by the width",
        f"The root is taken of the sum of squares: the output is sqrt({D}) = 22.6 times too small.",
        _STEP,
        (_divided_by(1.0, ""),),
    ),
    Mistake(
        "mean-divisor-wrong",
        "the sum of squares is divided by a wrong width",
        f"The sum of squares is divided, but not by the {D} values that it has.",
        _STEP,
        (
            *(_divided_by(width, f"{width}") for width in _WRONG_WIDTHS),
            Hypothesis("T, the number of rows", _by_rows),
            _divided_by(float(np.sqrt(D)), f"sqrt({D})"),
        ),
    ),
    Mistake(
        "root-missing",
        "the root is missing",
        "x is divided by the mean square itself: right only where that is 1.",
        _STEP,
        _only(lambda x, w: fp32(x / (mean_square(x) + RMS_EPS) * w)),
    ),
    Mistake(
        "root-multiplied",
        "x is multiplied by the root",
        "x is multiplied by sqrt(mean square + eps), not by its reciprocal: sqrtf where rsqrtf belongs.",
        _STEP,
        _only(lambda x, w: fp32(x * np.sqrt(mean_square(x) + RMS_EPS) * w)),
    ),
    Mistake(
        "eps-missing",
        "epsilon is missing",
        "Nothing is added to the mean square: a row of zeros is 0 / 0, and small rows come out too large.",
        _STEP,
        _only(lambda x, w: over_root(x, mean_square(x), w, 0.0)),
    ),
    Mistake(
        "eps-outside-root",
        "epsilon stands outside the root",
        "Epsilon is added to the root, not to the mean square inside it: small rows come out too large.",
        _STEP,
        _only(lambda x, w: fp32(x / (np.sqrt(mean_square(x)) + RMS_EPS) * w)),
    ),
    Mistake(
        "eps-wrong",
        "epsilon is not the contract's",
        f"Epsilon is another number than {RMS_EPS:g}, or is added before the division by the width.",
        _STEP,
        (
            *(_eps(eps) for eps in _WRONG_EPSILONS),
            of(_eps_on_sum, "added to the sum"),
            of(_eps_as_floor, "as a lower limit"),
        ),
    ),
    Mistake(
        "weight-missing",
        "the weight is missing",
        "The row is normalised, but not multiplied by the weight.",
        _STEP,
        _only(_without_weight),
    ),
    Mistake(
        "weight-twice",
        "the weight is applied twice",
        "The weight is multiplied into the row before the norm and after it, or squared.",
        _STEP,
        (of(lambda x, w: _plain(x, w * w), "squared"), of(lambda x, w: _plain(x * w, w), "before and after")),
    ),
    Mistake(
        "weight-before-norm",
        "the weight comes before the norm",
        "x is multiplied by the weight first, so the weight is in the mean square too.",
        _STEP,
        _only(lambda x, w: _without_weight(x * w, w)),
    ),
    Mistake(
        "weight-plus-one",
        "1 is added to the weight",
        "The row is multiplied by 1 + weight, a convention of some models; the contract's weight is whole.",
        _STEP,
        _only(lambda x, w: _plain(x, 1.0 + w)),
    ),
    Mistake(
        "weight-index-wrong",
        "the weight is read at a wrong index",
        "The weight belongs to the column; it is read at the row, or at the thread's number.",
        _STEP,
        (
            of(_weight_of_row, "the row"),
            of(lambda x, w: _plain(x, w[:, :1]), "always the first"),
            *(of(_weight_of_thread(threads), f"the thread, of {threads}") for threads in _STRIDES),
        ),
    ),
    Mistake(
        "norm-twice",
        "the norm is applied twice",
        "The normalised row is normalised again, with its weight: nothing changes only where weights are 1.",
        _STEP,
        _only(_twice),
    ),
    Mistake(
        "half-squares",
        "the squares are kept in half precision",
        "x * x is stored as a half: past |x| = 256 it is infinite, and the row becomes 0.",
        _STEP,
        one(lambda case: _half_squares(case["x"], case["norm_weight"])),
    ),
)
