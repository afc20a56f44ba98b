"""Honest fp32 arithmetic fits the bounds four times over; TF32, bf16 and fp16 arithmetic does not fit at all.

Both are simulated: a kernel's roundings, one by one, in NumPy's float32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from tilestep import reference, tolerance
from tilestep.contract import DH, GROUP, HQ
from tilestep.subjects.attention import cases
from tilestep.subjects.attention.fresh import make_fresh

STEP = "online-attention"
F32 = np.float32
LOG2E = F32(np.log2(np.e))


def worst_ratio(got: np.ndarray, case: cases.Case) -> float:
    """Largest error over bound among the judged rows; infinite where something is not finite."""
    want = reference.attention(case.qkv)
    bound = tolerance.attention(case.qkv, want)
    rows = case.judged_rows
    ratio = np.abs(got[rows].astype(np.float64) - want[rows]) / bound[rows]
    return float(np.max(np.where(np.isfinite(ratio), ratio, np.inf)))


@dataclass(frozen=True)
class Kernel:
    """How a simulated kernel rounds. The defaults: serial dots and sums, one tile, exp correctly rounded."""

    tile: int = 4096
    dot: str = "serial"  # serial, backwards, fma, strided (a warp's tree), blas
    exponential: str = "exp"  # exp, exp2-folded, fast-exp, fast-exp-biased
    right_to_left: bool = False
    lazy: float = 0.0  # rescale only when the maximum grows by more than this
    inputs: Callable[[np.ndarray], np.ndarray] | None = None  # rounding of Q and K before the product
    values: Callable[[np.ndarray], np.ndarray] | None = None
    weights: Callable[[np.ndarray], np.ndarray] | None = None
    scores: Callable[[np.ndarray], np.ndarray] | None = None

    def run(self, qkv: np.ndarray, seed: int = 0) -> np.ndarray:
        T = qkv.shape[0]
        q, k, v = (np.asarray(a, dtype=F32) for a in reference.split_heads(qkv))
        k, v = np.repeat(k, GROUP, axis=0), np.repeat(v, GROUP, axis=0)
        if self.inputs is not None:
            q, k = self.inputs(q), self.inputs(k)
        if self.values is not None:
            v = self.values(v)
        scale = F32(0.125) * LOG2E if self.exponential == "exp2-folded" else F32(0.125)
        scores = self._dots(q, k) * scale
        if self.scores is not None:
            scores = self.scores(scores)
        visible = np.tril(np.ones((T, T), dtype=bool))
        rng = np.random.default_rng(seed)
        m = np.full((HQ, T), -np.inf, dtype=F32)
        shift = np.zeros((HQ, T), dtype=F32)
        denominator = np.zeros((HQ, T), dtype=F32)
        acc = np.zeros((HQ, T, DH), dtype=F32)
        starts = range(0, T, self.tile)
        for start in reversed(starts) if self.right_to_left else starts:
            keys = slice(start, min(start + self.tile, T))
            seen = visible[:, keys]
            tile = np.where(seen, scores[:, :, keys], F32(-np.inf))
            m_new = np.maximum(m, tile.max(axis=2))
            anything = np.isfinite(m_new)
            move = anything & ((m_new > shift + F32(self.lazy)) | ~np.isfinite(m))
            shift_new = np.where(move, m_new, shift)
            alpha = np.where(np.isfinite(m) & anything, self._exp(shift - shift_new, rng), F32(0.0))
            p = self._exp(np.where(seen, tile - shift_new[:, :, None], F32(-np.inf)), rng)
            m, shift = m_new, shift_new
            stored = p if self.weights is None else self.weights(p)
            denominator, acc = denominator * alpha, acc * alpha[:, :, None]
            for j in range(keys.stop - keys.start):
                denominator = denominator + p[:, :, j]
                product = stored[:, :, j, None] * v[:, keys.start + j, None, :]
                acc = np.where(seen[None, :, j, None], acc + product, acc)
        return reference.join_heads(acc / denominator[:, :, None])

    def _dots(self, q: np.ndarray, k: np.ndarray) -> np.ndarray:
        if self.dot == "blas":
            return q @ k.transpose(0, 2, 1)
        order = range(DH - 1, -1, -1) if self.dot == "backwards" else range(DH)
        lanes = 32 if self.dot == "strided" else 1
        sums = [np.zeros((HQ, q.shape[1], k.shape[1]), dtype=F32) for _ in range(lanes)]
        for d in order:
            a, b = q[:, :, None, d], k[:, None, :, d]
            if self.dot == "fma":  # one rounding: the product is exact in float64
                exact = a.astype(np.float64) * b.astype(np.float64) + sums[0]
                sums[0] = exact.astype(F32)
            else:
                sums[d % lanes] = sums[d % lanes] + a * b
        while len(sums) > 1:
            half = len(sums) // 2
            sums = [sums[i] + sums[i + half] for i in range(half)]
        return sums[0]

    def _exp(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        base = np.exp2 if self.exponential == "exp2-folded" else np.exp
        right = base(x.astype(np.float64))
        if self.exponential.startswith("fast-exp"):
            ulps = 2.0 + 1.173 * np.where(np.isfinite(x), np.abs(x), 0.0)
            ulps[x == 0.0] = 0.0  # exp(0) is 1 on every device
            sign = 1.0 if self.exponential.endswith("biased") else rng.uniform(-1.0, 1.0, size=x.shape)
            right = right * (1.0 + sign * ulps * 2.0**-23)
        with np.errstate(over="ignore"):
            return right.astype(F32)


def tf32(x: np.ndarray) -> np.ndarray:
    return keep_bits(x, 10)


def bf16(x: np.ndarray) -> np.ndarray:
    return keep_bits(x, 7)


def fp16(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float16).astype(F32)


def keep_bits(x: np.ndarray, bits: int) -> np.ndarray:
    """Round to nearest even at this many explicit mantissa bits."""
    drop = 23 - bits
    word = np.ascontiguousarray(x, dtype=F32).view(np.uint32)
    word = word + np.uint32((1 << (drop - 1)) - 1) + ((word >> np.uint32(drop)) & np.uint32(1))
    rounded = (word & np.uint32(0xFFFFFFFF << drop & 0xFFFFFFFF)).view(F32)
    return np.where(np.isfinite(x), rounded, x)


HONEST = {
    "serial": Kernel(),
    "backwards": Kernel(dot="backwards", right_to_left=True, tile=16),
    "online-8": Kernel(tile=8, dot="strided"),
    "online-32": Kernel(tile=32, dot="fma"),
    "online-64-blas": Kernel(tile=64, dot="blas"),
    "exp2-folded": Kernel(tile=32, exponential="exp2-folded"),
    "fast-exp": Kernel(tile=16, exponential="fast-exp", dot="fma"),
    "fast-exp-biased": Kernel(tile=32, exponential="fast-exp-biased"),
    "lazy-rescale": Kernel(tile=32, lazy=8.0, dot="fma"),
    "one-key-at-a-time": Kernel(tile=1, dot="fma"),
}

LOW = {
    "tf32-scores": Kernel(inputs=tf32),
    "bf16-scores": Kernel(inputs=bf16),
    "fp16-scores": Kernel(inputs=fp16),
    "tf32-all": Kernel(inputs=tf32, weights=tf32, values=tf32),
    "bf16-weights": Kernel(weights=bf16, tile=32),
    "fp16-weights": Kernel(weights=fp16, tile=32),
    "tf32-weights": Kernel(weights=tf32, tile=32),
    "fp16-values": Kernel(values=fp16),
    "tf32-values": Kernel(values=tf32),
    "half-score-row": Kernel(scores=fp16),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_fp32_passes_with_a_margin_of_four(name: str) -> None:
    seed = 100 + list(HONEST).index(name)
    for length in (1, 2, 33, 97):
        for family in cases.families(STEP, length):
            case = cases.make(STEP, length, family, seed)
            ratio = worst_ratio(HONEST[name].run(case.qkv, seed), case)
            assert ratio <= 0.25, (length, family, ratio)


@pytest.mark.parametrize("name", LOW)
def test_low_precision_fails_at_every_length_from_31(name: str) -> None:
    seed = 200 + list(LOW).index(name)
    for length in (31, 65, 128):
        worst = 0.0
        for family in cases.families(STEP, length):
            case = cases.make(STEP, length, family, seed)
            worst = max(worst, worst_ratio(LOW[name].run(case.qkv), case))
        assert worst > 2.0, (length, worst)


def ratios(
    got: dict[str, np.ndarray], want: dict[str, np.ndarray], bound: dict[str, np.ndarray]
) -> list[float]:
    return [float(np.max(np.abs(got[name] - want[name]) / bound[name])) for name in want]


@pytest.mark.parametrize("family", ["normal", "spread", "planted", "negative"])
def test_the_tail_of_an_honest_output_fits_four_times_over(family: str) -> None:
    """In float64, as the judge runs it, and in fp32, as a kernel would."""
    case = cases.make(STEP, 65, family, 300)
    want = reference.attention(case.qkv)
    right = reference.tail(case.x, want, case.weights)
    bound = tolerance.tail(case.x, want, case.weights, tolerance.attention(case.qkv, want))
    out = HONEST["fast-exp"].run(case.qkv)
    assert max(ratios(reference.tail(case.x, out, case.weights), right, bound)) <= 0.25
    w = case.weights
    projected = out @ w["w_o"].T
    residual = case.x + projected
    scale = np.sqrt(np.mean(residual * residual, axis=1, keepdims=True) + F32(1e-5))
    normed_2 = residual / scale * w["norm_2_weight"]
    gate, up = normed_2 @ w["w_gate"].T, normed_2 @ w["w_up"].T
    activated = gate / (F32(1.0) + np.exp(-gate)) * up
    block_output = residual + activated @ w["w_down"].T
    steps = (projected, residual, normed_2, activated, block_output)
    assert all(step.dtype == F32 for step in steps)
    assert max(ratios(dict(zip(right, steps, strict=True)), right, bound)) <= 0.25


def test_the_tail_bounds_are_small_and_notice_a_wrong_head() -> None:
    case = cases.make(STEP, 33, "normal", 301)
    want = reference.attention(case.qkv)
    right = reference.tail(case.x, want, case.weights)
    bound = tolerance.tail(case.x, want, case.weights, tolerance.attention(case.qkv, want))
    assert np.median(bound["block_output"]) < 0.01 * np.std(right["block_output"])
    wrong = want.copy()
    wrong[:, :DH] *= 1.05
    assert ratios(reference.tail(case.x, wrong, case.weights), right, bound)[-1] > 1.0


def test_bounds_are_positive_and_fail_closed() -> None:
    """Values of 0 still leave room for a subnormal; where the right value is NaN nothing passes."""
    case = cases.make(STEP, 41, "future-nan", 302)
    want = reference.attention(case.qkv)
    bound = tolerance.attention(case.qkv, want)
    assert np.all(bound[case.judged_rows] > 0.0)
    assert np.all(np.isnan(bound[~case.judged_rows]))
    zero = np.zeros_like(case.qkv)
    assert np.all(tolerance.attention(zero, reference.attention(zero)) > 0.0)


@pytest.mark.parametrize("family", ["normal", "spread", "planted", "negative"])
@pytest.mark.parametrize("length", [2, 3, 33, 128])
def test_the_quick_bound_is_nowhere_below_the_bound(length: int, family: str) -> None:
    qkv = cases.make(STEP, length, family, 3).qkv
    bound = tolerance.attention(qkv, reference.attention(qkv))
    assert (tolerance.attention_at_most(qkv) >= 0.9999 * bound).all()


def test_the_quick_bound_sees_what_no_kernel_may_do() -> None:
    """At the scale of a late row: another row's output is far outside, and so is a mean of the values."""
    qkv = make_fresh(STEP, 300, 5, 0).inputs["qkv_rotated"]
    right, allowed = reference.attention(qkv)[200:], 2 * tolerance.attention_at_most(qkv)[200:]
    for wrong in (np.roll(right, 1, axis=0), np.broadcast_to(right.mean(axis=0), right.shape)):
        assert np.mean(np.abs(wrong - right) > allowed) > 0.9


def test_rows_alone_have_the_values_and_bounds_of_the_whole() -> None:
    qkv = cases.make(STEP, 97, "future-nan", 3).qkv
    rows = np.array([0, 5, 40, 64, 96])
    with np.errstate(all="ignore"):
        want = reference.attention(qkv)
        bound = tolerance.attention(qkv, want)
        some = reference.attention_rows(qkv, rows)
        some_bound = tolerance.attention_rows(qkv, some, rows)
    np.testing.assert_allclose(some, want[rows], rtol=1e-9)
    np.testing.assert_allclose(some_bound, bound[rows], rtol=1e-5)
