"""Mistakes of the one-pass softmax: the maximum moves, and what was summed must follow; so in the merge."""

from __future__ import annotations

from collections.abc import Callable

from tilestep.mistakes.arithmetic import Doubles
from tilestep.mistakes.named import Hypothesis, Mistake
from tilestep.subjects.softmax import online, row_mistakes
from tilestep.subjects.softmax.arithmetic import THREADS, each_block
from tilestep.subjects.softmax.block_mistakes import own_numerators
from tilestep.subjects.softmax.online import Steps

_ALONE = (1,)


def _with(
    steps: Steps, threads: tuple[int, ...] = (*_ALONE, *THREADS), label: str = "{} threads"
) -> tuple[Hypothesis, ...]:
    def output(x: Doubles, count: int) -> Doubles:
        return online.run(x, count, steps)

    return each_block(output, threads, label)


def _minus_infinities(where: str) -> Callable[[Doubles, int], Doubles]:
    return lambda x, threads: online.minus_infinities(x, threads, where)


ONLINE: tuple[Mistake, ...] = (
    Mistake(
        "inf-minus-inf",
        "-inf is subtracted from -inf",
        "Before the first finite value m is -inf, and exp(-inf - -inf) is NaN: the row never recovers.",
        "online-softmax",
        (
            *each_block(_minus_infinities("loop"), (*_ALONE, *THREADS), "in the loop, {} threads"),
            *each_block(_minus_infinities("tree"), THREADS, "in a tree of {} threads"),
            *each_block(_minus_infinities("warps"), THREADS[1:], "in the warps of {} threads"),
        ),
    ),
    row_mistakes.max_starts_at_zero("block-max"),
    row_mistakes.FIRST_COLUMN_MISSING,
    Mistake(
        "alpha-missing-on-l",
        "alpha is missing on the denominator",
        "When a thread's running maximum moves, its denominator stays relative to the old one.",
        "online-softmax",
        _with(Steps(alpha=0)),
    ),
    Mistake(
        "merge-without-rescale",
        "denominators are merged without a rescale",
        "The threads' denominators are added as they are, although each is relative to a maximum of its own.",
        "online-softmax",
        _with(Steps(rescale="none"), THREADS),
    ),
    Mistake(
        "alpha-missing",
        "alpha is missing altogether",
        "Neither the loop nor the merge rescales: sums that are relative to different maxima are added.",
        "online-softmax",
        _with(Steps(alpha=0, rescale="none"), THREADS),
    ),
    Mistake(
        "merge-rescales-one-side",
        "the merge rescales only one of the two denominators",
        "Of two pairs that merge, either may hold the smaller maximum: both denominators need their factor.",
        "online-softmax",
        (
            *_with(Steps(rescale="upper"), THREADS, "{} threads, the partner's"),
            *_with(Steps(rescale="lower"), THREADS, "{} threads, its own"),
        ),
    ),
    Mistake(
        "alpha-inverted",
        "alpha is inverted",
        "alpha is exp(m_new - m_old), at least 1; it is exp(m_old - m_new), at most 1.",
        "online-softmax",
        _with(Steps(alpha=-1)),
    ),
    Mistake(
        "alpha-twice",
        "alpha is applied twice",
        "What was summed under the old maximum is rescaled by alpha two times.",
        "online-softmax",
        _with(Steps(alpha=2)),
    ),
    Mistake(
        "m-not-updated",
        "the merged maximum is not stored",
        "The merge computes the common maximum, but m keeps the thread's own: later merges start from that.",
        "online-softmax",
        _with(Steps(store=False), THREADS),
    ),
    Mistake(
        "l-from-last-tile-only",
        "the denominator is overwritten",
        "l takes the new exponential in place of alpha * l plus it: only a thread's last value is left.",
        "online-softmax",
        _with(Steps(keep_l=False)),
    ),
    Mistake(
        "max-of-own-values",
        "each thread subtracts its own maximum",
        "The denominator is the row's, but numerators are relative to the maximum of the writing thread.",
        "block-softmax",
        each_block(own_numerators),
    ),
)
