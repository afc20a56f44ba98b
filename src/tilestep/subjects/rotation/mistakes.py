"""Mistakes of a rotation in place, most specific first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilestep.case import Case
from tilestep.contract import DH, GROUP, HQ, QKV_OUT
from tilestep.mistakes import Hypothesis, Mistake, Observation, one
from tilestep.mistakes.patterns import zeros
from tilestep.subjects.rotation import turns
from tilestep.subjects.rotation.turns import (
    ALL_HEADS,
    HIGH,
    K_HEADS,
    LOW,
    PAIRS,
    Q_HEADS,
    RIGHT,
    ROTATED,
    V_HEADS,
    Doubles,
    Turn,
    tables,
    turn,
)

_STEP = "rope"
_LOST = 2.0**-7  # of a pair's magnitude: what rounding to bf16 loses
_LEAST_SHARE = 0.02
_WRAPS = (4, 8, 16, 32, 64, 128)


def _by(wrong: Turn) -> Callable[[Case], Doubles]:
    """Another rotation than the right one, by the right tables."""
    return lambda case: wrong(case["qkv"], *tables(case))


def _table_rows(row_of: Callable[[int], np.ndarray]) -> Callable[[Case], Doubles]:
    """The right rotation by other rows of the tables; `row_of` gives them for a number of tokens."""

    def output(case: Case) -> Doubles:
        cos, sin = tables(case)
        row = row_of(case.length)
        return RIGHT(case["qkv"], turns.rows_of(cos, row), turns.rows_of(sin, row))

    return output


def _wrapped(tokens: int) -> Callable[[Case], Doubles]:
    return _table_rows(lambda T: np.arange(T) % tokens)


def _table_elements(element_of: Callable[[int], np.ndarray]) -> Callable[[Case], Doubles]:
    """The right rotation by other elements of the tables; `element_of` gives them as [T, DH / 2]."""

    def output(case: Case) -> Doubles:
        flat = [table.reshape(-1, 1) for table in tables(case)]
        element = element_of(case.length)
        cos, sin = (turns.rows_of(table, element.reshape(-1)).reshape(element.shape) for table in flat)
        return RIGHT(case["qkv"], cos, sin)

    return output


def _backwards(case: Case) -> Doubles:
    cos, sin = tables(case)
    return RIGHT(case["qkv"], cos, -sin)


def _one_sign(low: float, high: float) -> Callable[[Case], Doubles]:
    """Both products with these signs of the sine."""

    def output(case: Case) -> Doubles:
        cos, sin = (table[:, None, :] for table in tables(case))
        a, b = RIGHT.old(case["qkv"])
        return RIGHT.put(case["qkv"], a * cos + low * b * sin, b * cos + high * a * sin)

    return output


def _exchanged(case: Case) -> Doubles:
    cos, sin = tables(case)
    return RIGHT(case["qkv"], sin, cos)


def _again(case: Case) -> Doubles:
    return RIGHT(RIGHT(case["qkv"], *tables(case)), *tables(case))


def _k_for_each_query_head(case: Case) -> Doubles:
    turned = RIGHT(case["qkv"], *tables(case))
    for _ in range(GROUP - 1):
        turned = turn(heads=K_HEADS)(turned, *tables(case))
    return turned


def _v_by_nothing(case: Case) -> Doubles:
    still = np.zeros((case.length, PAIRS))
    return turn(heads=V_HEADS)(RIGHT(case["qkv"], *tables(case)), still + 1.0, still)


def _low_first(case: Case) -> Doubles:
    cos, sin = (table[:, None, :] for table in tables(case))
    low, high = RIGHT.old(case["qkv"])
    new = low * cos - high * sin
    return RIGHT.put(case["qkv"], new, high * cos + new * sin)


def _high_first(case: Case) -> Doubles:
    cos, sin = (table[:, None, :] for table in tables(case))
    low, high = RIGHT.old(case["qkv"])
    new = high * cos + low * sin
    return RIGHT.put(case["qkv"], low * cos - new * sin, new)


def _half(low: bool) -> Callable[[Case], Doubles]:
    """Only one half of each pair is stored."""

    def output(case: Case) -> Doubles:
        cos, sin = (table[:, None, :] for table in tables(case))
        a, b = RIGHT.old(case["qkv"])
        return RIGHT.put(case["qkv"], a * cos - b * sin if low else None, None if low else b * cos + a * sin)

    return output


def _untouched(case: Case) -> Doubles:
    return case["qkv"]


def _few_bits(seen: Observation) -> bool | None:
    """Errors that are small beside both values of their pair, in Q and K only."""
    heads = np.abs(seen.given["qkv"]).reshape(len(seen.got), -1, DH)  # type: ignore[index]
    size = heads[:, :, :PAIRS] + heads[:, :, PAIRS:]
    allowed = np.concatenate([size, size], axis=2).reshape(seen.got.shape) * _LOST
    rotated = np.arange(QKV_OUT) < len(ROTATED) * DH
    if seen.wrong[:, ~rotated].any():
        return False
    with np.errstate(invalid="ignore"):
        small = np.abs(seen.got - seen.want) <= allowed
    if not bool(np.all(small[:, rotated])):
        return False
    return True if float(np.mean(seen.wrong)) >= _LEAST_SHARE else None


def _mistake(code: str, title: str, says: str, *hypotheses: Hypothesis) -> Mistake:
    return Mistake(code, title, says, _STEP, hypotheses)


MISTAKES: tuple[Mistake, ...] = (
    zeros(_STEP),
    _mistake(
        "rope-not-applied",
        "nothing is rotated",
        "The tensor comes back as it went in: no thread writes, or every thread turns by the angle 0.",
        *one(_untouched),
    ),
    _mistake(
        "rope-interleaved-pairs",
        "neighbouring dims are paired",
        "Dims 2d and 2d + 1 are turned together; in this layout the partner of dim d is d + 32.",
        *one(_by(turn(low=2 * LOW, high=2 * LOW + 1))),
    ),
    _mistake(
        "rope-sin-sign",
        "a sine has the wrong sign",
        "The rotation is low * cos - high * sin and high * cos + low * sin; a sign is the other way round.",
        Hypothesis("turned backwards", _backwards),
        Hypothesis("both plus", _one_sign(1.0, 1.0)),
        Hypothesis("both minus", _one_sign(-1.0, -1.0)),
    ),
    _mistake(
        "rope-cos-sin-swapped",
        "cosine and sine are swapped",
        "The cosine stands where the sine belongs: position 0 is then a quarter turn, not the identity.",
        *one(_exchanged),
    ),
    _mistake(
        "rope-inplace-hazard",
        "the second half is made from the new first half",
        "One value of the pair is overwritten too early: the second formula reads the new one, not the old.",
        Hypothesis("the new low", _low_first),
        Hypothesis("the new high", _high_first),
    ),
    _mistake(
        "rope-half-stored",
        "only one half of each pair is stored",
        "Dims 0 to 31 of a head are turned and dims 32 to 63 are not, or the other way round.",
        Hypothesis("the low half", _half(True)),
        Hypothesis("the high half", _half(False)),
    ),
    _mistake(
        "rope-dims-truncated",
        "only part of each head is rotated",
        "Some pairs of each head stay as they were: the loop or the block covers fewer than 32.",
        *(
            Hypothesis(f"the first {n} pairs", _by(turn(low=LOW[:n], high=HIGH[:n], column=LOW[:n])))
            for n in (16, 31)
        ),
        Hypothesis("within the first 32 dims", _by(turn(low=LOW[:16], high=LOW[16:], column=LOW[:16]))),
    ),
    _mistake(
        "rope-k-not-rotated",
        "K is not rotated",
        "Only Q's heads are turned; K's two heads follow them in the same row and need it too.",
        *one(_by(turn(heads=Q_HEADS))),
    ),
    _mistake(
        "rope-q-not-rotated",
        "Q is not rotated",
        "Only K's heads are turned; Q's eight heads stand before them in the same row and need it too.",
        *one(_by(turn(heads=K_HEADS))),
    ),
    _mistake(
        "rope-v-rotated",
        "V is rotated too",
        "V's two heads are turned too, if only by the angle 0; they carry no position and must stay.",
        Hypothesis("as Q and K are", _by(turn(heads=ALL_HEADS))),
        Hypothesis("by the angle 0", _v_by_nothing),
        Hypothesis("and its second head not", _by(turn(heads=ALL_HEADS[:-1]))),
    ),
    _mistake(
        "rope-first-head-only",
        "only the first head is rotated",
        "The head's offset, head * 64, is missing: only one head of Q, of K or of both is turned.",
        Hypothesis("of Q, and none of K", _by(turn(heads=Q_HEADS[:1]))),
        Hypothesis("of Q, and all of K", _by(turn(heads=np.r_[Q_HEADS[:1], K_HEADS]))),
        Hypothesis("of both", _by(turn(heads=np.r_[Q_HEADS[:1], K_HEADS[:1]]))),
        Hypothesis("of K, and all of Q", _by(turn(heads=ROTATED[: HQ + 1]))),
    ),
    _mistake(
        "rope-again",
        "RoPE is applied a second time",
        "A pair is turned more than once: several threads own it, or the kernel is launched twice.",
        Hypothesis("all of it", _again),
        Hypothesis("K, by each query head of its group", _k_for_each_query_head),
    ),
    _mistake(
        "rope-position-shifted",
        "the position is off by one",
        "Token t is turned by the angle of its neighbour: positions count from 0, as rows do.",
        Hypothesis("one too far", _table_rows(lambda T: np.arange(T) + 1)),
        Hypothesis(
            "one too far, the last row clamped", _table_rows(lambda T: np.minimum(np.arange(T) + 1, T - 1))
        ),
        Hypothesis("one too few", _table_rows(lambda T: np.maximum(np.arange(T) - 1, 0))),
        Hypothesis("one too few, before the table", _table_rows(lambda T: np.arange(T) - 1)),
    ),
    _mistake(
        "rope-position-zero",
        "every token is turned as if it were the first",
        "The token's row is missing where the tables are read: all tokens get the angles of row 0.",
        *one(_table_rows(lambda T: np.zeros(T, dtype=np.intp))),
    ),
    _mistake(
        "rope-position-wraps",
        "the position starts again in every block",
        "The tables are read at the token's place in its block or tile, not at its row.",
        *(Hypothesis(f"every {n} tokens", _wrapped(n)) for n in _WRAPS),
    ),
    _mistake(
        "rope-table-stride",
        "the tables are read at a wrong stride",
        "A row of the tables holds one value for each pair, 32 in all; it is addressed with another width.",
        Hypothesis("rows are 64 apart", _table_elements(lambda T: np.arange(T)[:, None] * DH + LOW)),
        Hypothesis("columns are T apart", _table_elements(lambda T: np.arange(T)[:, None] + LOW * T)),
    ),
    _mistake(
        "rope-one-frequency",
        "all pairs turn by the same angle",
        "The pair's column is missing where the tables are read: every pair turns as fast as pair 0.",
        *one(_by(turn(column=0 * LOW))),
    ),
    _mistake(
        "rope-tables-ignored",
        "the angles are computed, not read",
        "The angles follow the row's number; the tables say otherwise where a text is continued.",
        *one(turns.computed),
    ),
    Mistake(
        "low-precision",
        "arithmetic below fp32",
        "The errors are small and everywhere in Q and K, as half or bf16 make them: bits of fp32 are lost.",
        _STEP,
        pattern=_few_bits,
        fallback=True,
    ),
)
