"""What is fed: lengths, value families and planted hazards, from fresh seeds. Never what is right.

x and the weights are drawn; RMSNorm, projection and RoPE run in float64 and are rounded to fp32, so Q, K and
V come out of a real block. A family then shapes them, after RoPE, in the packed tensor that the seam is fed:

- normal      Q and K as they come; V gets a mean of its own in every column.
- spread      Q and K gain a common direction, K by a ramp that steps at every 32nd key and climbs in between,
              each query head by a slope of its own: logits reach far beyond exp's range. Under KV head 0 the
              ramp rises, so that the running maximum moves in every tile; under KV head 1 it falls.
- planted     tokens 0 and 40 carry +-4 in every element of Q and K: their score with themselves is exactly
              128. Their sign patterns differ in two dims, so at token 40 the other planted key scores 120.
              Token 1's query is token 0's times 3/4: a score of 96, which overflows exp, but only just.
- negative    Q and K point apart: logits lie near -64 in one head of a group, and near -140, -160 and -180 in
              the others, where fp32's exp is 0. V's columns have mean 0.
- future-nan  Q, K and V of the tokens from some row on are NaN. Only the rows before it are judged: what is
              masked must have no effect.

One family is never enough: each hides some mistakes (tests/pure/test_mistakes.py has the table).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilestep import reference
from tilestep.case import Case
from tilestep.contract import (
    DH,
    GROUP,
    HKV,
    HQ,
    KV,
    LENGTHS,
    PLANTED_TOKENS,
    PLANTED_VALUE,
    QUERY_TILE,
    WEIGHTS,
    D,
)
from tilestep.subjects.weights import seeded_weights

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

FAMILIES = ("normal", "spread", "planted", "negative", "future-nan")

_SLOPES = (6.0, 12.0, 20.0, 48.0)  # spread: logits per step of the ramp, by query head within its group
_CLIMB = 0.25  # spread: the part of a step that a tile's keys climb
_RISES = (1.0, -1.0)  # spread: which way the ramp goes, by KV head
_LEVELS = (-64.0, -140.0, -160.0, -180.0)  # negative: mean logit, by query head within its group
_NEAR_TOKEN, _NEAR_PART = 1, 0.75  # planted: a query that scores 96 with token 0's key
_PLANTED_DIFFERENCE = 2  # dims in which token 40's signs differ from token 0's


class AttentionCase(Case):
    """A case of the two attention steps. Its context holds x [length, D] and the weights."""

    @property
    def x(self) -> Floats:
        return self.context["x"]

    @property
    def weights(self) -> Mapping[str, Floats]:
        return {name: self.context[name] for name in WEIGHTS}

    @property
    def qkv(self) -> Floats:
        """The packed tensor after RoPE, [length, QKV_OUT]."""
        return self.inputs["qkv_rotated"]


def families(step: str, length: int) -> tuple[str, ...]:
    """The value families that are fed at a length, in judging order."""
    if length < 1:
        raise ValueError(f"a length is at least 1, not {length}")
    if length == 1:
        return ("normal", "planted", "negative")  # one key: no ramp and no future
    return FAMILIES


def plan(step: str, lengths: Sequence[int] | None = None) -> list[tuple[int, str]]:
    """(length, family) in judging order: the smallest length first. Lengths default to the contract's."""
    return [(n, family) for n in sorted(set(lengths or LENGTHS)) for family in families(step, n)]


def make(step: str, length: int, family: str, seed: int) -> AttentionCase:
    """The case of a length and family. The same seed makes the same case; a run has one set of weights."""
    if family not in families(step, length):
        raise ValueError(f"family {family!r} is not fed at length {length}")
    rng = np.random.default_rng([seed, length, FAMILIES.index(family)])
    weights = seeded_weights(seed)
    x = rng.standard_normal((length, D), dtype=np.float32)
    normed = reference.rms_norm(x, weights["norm_weight"])
    qkv = reference.rope(reference.project(normed, weights["w_qkv"]), *reference.rope_tables(length))
    q, k, v = _views(qkv)
    judged = np.ones(length, dtype=bool)
    if family == "normal":
        v += rng.choice((-0.5, 0.5), size=(HKV, DH))
    elif family == "spread":
        _spread(q, k, rng)
    elif family == "planted":
        _plant(q, k, rng)
    elif family == "negative":
        _oppose(q, k, rng)
        if (
            length > 1
        ):  # the one value of a single token would be 0, which a kernel that does nothing can pass
            v -= v.mean(axis=0)
    else:
        cut = _cut(length, rng)
        qkv[cut:] = np.nan
        judged[cut:] = False
    packed = qkv.astype(np.float32)
    for array in (x, packed, judged):
        array.setflags(write=False)
    return AttentionCase(
        step, length, family, seed, {"T": length}, {"qkv_rotated": packed}, judged, {"x": x, **weights}
    )


def planted(qkv: NDArray[Any], seed: int) -> Floats:
    """A packed tensor [T, QKV_OUT] after RoPE, with the planted tokens written into its Q and K."""
    packed = qkv.astype(np.float64)
    q, k, _ = _views(packed)
    _plant(q, k, np.random.default_rng([seed, qkv.shape[0]]))
    return packed.astype(np.float32)


def _views(qkv: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Q as [T, HKV, GROUP, DH], K and V as [T, HKV, DH], all views of the packed tensor."""
    T = qkv.shape[0]
    q = qkv[:, :D].reshape(T, HKV, GROUP, DH)
    k = qkv[:, D : D + KV].reshape(T, HKV, DH)
    v = qkv[:, D + KV :].reshape(T, HKV, DH)
    return q, k, v


def _signs(rng: np.random.Generator) -> Doubles:
    """A direction for each KV head: [HKV, DH] of +-1."""
    return rng.choice((-1.0, 1.0), size=(HKV, DH))


def _spread(q: Doubles, k: Doubles, rng: np.random.Generator) -> None:
    direction = _signs(rng)
    key = np.arange(k.shape[0])
    ramp = key // QUERY_TILE + _CLIMB * (key % QUERY_TILE) / QUERY_TILE
    k += ramp[:, None, None] * np.array(_RISES)[:, None] * direction
    # slope * sqrt(DH) / DH along the direction: a step of the ramp then raises the logit by the slope.
    q += np.array(_SLOPES)[None, None, :, None] / np.sqrt(DH) * direction[None, :, None, :]


def _plant(q: Doubles, k: Doubles, rng: np.random.Generator) -> None:
    signs = _signs(rng)
    if k.shape[0] > _NEAR_TOKEN:
        q[_NEAR_TOKEN] = _NEAR_PART * PLANTED_VALUE * signs[:, None, :]
    for token in PLANTED_TOKENS:
        if token < k.shape[0]:
            k[token] = PLANTED_VALUE * signs
            q[token] = PLANTED_VALUE * signs[:, None, :]
        flipped = rng.choice(DH, size=_PLANTED_DIFFERENCE, replace=False)
        signs[:, flipped] *= -1.0


def _oppose(q: Doubles, k: Doubles, rng: np.random.Generator) -> None:
    direction = _signs(rng)
    of_key = np.sqrt(-min(_LEVELS) / np.sqrt(DH))
    of_query = -np.array(_LEVELS) / np.sqrt(DH) / of_key
    q += of_query[None, None, :, None] * direction[None, :, None, :]
    k -= of_key * direction


def _cut(length: int, rng: np.random.Generator) -> int:
    """The first NaN row: in the last tile where it can be, and inside a tile of 8 and of every multiple."""
    tile_start = (length - 2) // QUERY_TILE * QUERY_TILE
    first = max(tile_start + 1, length // 2, 1)
    inside = [row for row in range(first, length) if row % 8]
    return int(rng.choice(inside))


def impostors(case: AttentionCase) -> dict[str, Doubles]:
    """Outputs [T, D] that need no attention at all. A case that one of them passes would prove nothing."""
    q, _, v = _views(case.qkv.astype(np.float64))
    finite = np.nan_to_num(v)
    count = np.arange(1, case.length + 1, dtype=np.float64)[:, None, None]
    visible = np.cumsum(finite, axis=0) / count
    everything = np.broadcast_to(np.nanmean(v, axis=0), v.shape)

    def by_head(value: Doubles) -> Doubles:
        return np.repeat(value, GROUP, axis=1).reshape(case.length, HQ * DH)

    return {
        "zeros": np.zeros((case.length, D)),
        "mean of the visible values": by_head(visible),
        "mean of all values": by_head(everything),
        "the queries": q.reshape(case.length, D),
        "the previous output": _previous_output(case),
    }


def _previous_output(case: AttentionCase) -> Doubles:
    """The right output of another seed; at the profile length its first rows, over and over."""
    length = min(case.length, max(LENGTHS))
    family = case.family if case.family in families(case.step, length) else "normal"
    other = make(case.step, length, family, case.seed + 1)
    return np.resize(reference.attention(other.qkv), (case.length, D))
