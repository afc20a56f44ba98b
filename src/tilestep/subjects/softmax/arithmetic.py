"""The parts that wrong softmax kernels are put together from, in float64 with fp32's range.

All arrays are [rows, columns]. Thread t of T owns the columns t, t + T, t + 2 T and so on of its row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from tilestep.case import Case
from tilestep.mistakes.arithmetic import Doubles, exp, fp32
from tilestep.mistakes.named import Hypothesis

Formula = Callable[[Doubles], Doubles]  # values [rows, columns] to a wrong output of the same shape
Base = Callable[[Doubles], Doubles]

THREADS = (32, 64, 96, 128, 192, 256, 512, 1024)  # block sizes that kernels are written with
WARP = 32


def largest(x: Doubles) -> Doubles:
    """Each row's maximum [rows, 1]."""
    return np.asarray(x.max(axis=-1, keepdims=True))


def shifted(x: Doubles, shift: Doubles | float, base: Base = exp) -> Doubles:
    """exp(x - shift); -inf less -inf is NaN, as on the device."""
    with np.errstate(invalid="ignore", over="ignore"):
        return base(x - shift)


def total(p: Doubles) -> Doubles:
    """Each row's sum [rows, 1]."""
    with np.errstate(invalid="ignore", over="ignore"):
        return fp32(p.sum(axis=-1, keepdims=True))


def divided(p: Doubles, denominator: Doubles | float) -> Doubles:
    """p over its denominator; 0 / 0 and inf / inf are NaN, as on the device."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return fp32(p / denominator)


def softmax(x: Doubles, shift: Doubles | float, base: Base = exp) -> Doubles:
    """The softmax whose maximum is replaced by `shift`."""
    p = shifted(x, shift, base)
    return divided(p, total(p))


def owner(columns: int, threads: int) -> NDArray[np.int64]:
    """The thread [columns] that owns each column."""
    return np.arange(columns) % threads


def by_thread(x: Doubles, threads: int, fill: float = -np.inf) -> Doubles:
    """x as [rows, steps, threads]: what each thread meets, in order; absent columns hold the fill."""
    rows, columns = x.shape
    steps = -(-columns // threads)
    padded = np.full((rows, steps * threads), fill)
    padded[:, :columns] = x
    return padded.reshape(rows, steps, threads)


def to_columns(per_thread: Doubles, columns: int) -> Doubles:
    """A value for each thread [rows, threads] handed to the columns that the thread owns."""
    return np.asarray(per_thread[:, owner(columns, per_thread.shape[1])])


def ways(formulas: Mapping[str, Formula]) -> tuple[Hypothesis, ...]:
    """The ways to make a mistake, by label: hypotheses that take a case."""

    def of_case(formula: Formula) -> Callable[[Case], Doubles]:
        return lambda case: formula(case["matrix"])

    return tuple(Hypothesis(label, of_case(formula)) for label, formula in formulas.items())


def each_block(
    formula: Callable[[Doubles, int], Doubles],
    threads: tuple[int, ...] = THREADS,
    label: str = "{} threads",
) -> tuple[Hypothesis, ...]:
    """A mistake that depends on the number of threads: one hypothesis for each."""

    def at(count: int) -> Formula:
        return lambda x: formula(x, count)

    return ways({label.format(count): at(count) for count in threads})
