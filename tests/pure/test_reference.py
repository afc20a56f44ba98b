"""The float64 reference against a second derivation in plain scalars, and against cases done by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilestep import reference
from tilestep.contract import BLOCK_TENSORS, DH, GROUP, HKV, HQ, KV, QKV_OUT, RMS_EPS, D
from tilestep.subjects.attention import cases

STEP = "online-attention"


def scalar_attention(qkv: np.ndarray) -> np.ndarray:
    """Attention by the definition, one scalar at a time, addressing the packed tensor by its flat index."""
    T = qkv.shape[0]
    flat = [float(value) for value in qkv.reshape(-1)]
    out = np.zeros((T, D))
    for i in range(T):
        for h in range(HQ):
            g = h // (HQ // HKV)
            query = flat[i * QKV_OUT + h * DH : i * QKV_OUT + (h + 1) * DH]
            scores = []
            for j in range(i + 1):
                begin = j * QKV_OUT + D + g * DH
                scores.append(
                    math.fsum(a * b for a, b in zip(query, flat[begin : begin + DH], strict=True)) / 8.0
                )
            top = max(scores)
            weights = [math.exp(score - top) for score in scores]
            total = math.fsum(weights)
            for d in range(DH):
                values = (flat[j * QKV_OUT + D + KV + g * DH + d] for j in range(i + 1))
                out[i, h * DH + d] = math.fsum(w * v for w, v in zip(weights, values, strict=True)) / total
    return out


@pytest.mark.parametrize("family", cases.FAMILIES)
def test_attention_agrees_with_scalars(family: str) -> None:
    case = cases.make(STEP, 9, family, 11)
    rows = case.judged_rows
    want = scalar_attention(case.qkv)[rows]
    np.testing.assert_allclose(reference.attention(case.qkv)[rows], want, rtol=1e-11, atol=1e-12)


def test_block_agrees_with_scalars() -> None:
    """Every other tensor of the block, at a few elements, from the tensor before it."""
    case = cases.make(STEP, 3, "normal", 12)
    x, w = case.x.astype(float), {name: a.astype(float) for name, a in case.weights.items()}
    t = reference.block(case.x, case.weights)
    assert list(t) == [tensor.name for tensor in BLOCK_TENSORS]
    for i, column in ((0, 0), (1, 17), (2, 511)):
        root = math.sqrt(math.fsum(a * a for a in x[i]) / D + RMS_EPS)
        assert t["normed"][i, column] == pytest.approx(x[i, column] / root * w["norm_weight"][column])
        packed = math.fsum(t["normed"][i] * w["w_qkv"][column])
        assert t["qkv"][i, column] == pytest.approx(packed)
        projected = math.fsum(t["attention_output"][i] * w["w_o"][column])
        assert t["projected"][i, column] == pytest.approx(projected)
        assert t["residual"][i, column] == pytest.approx(x[i, column] + projected)
        root = math.sqrt(math.fsum(a * a for a in t["residual"][i]) / D + RMS_EPS)
        normed_2 = t["residual"][i, column] / root * w["norm_2_weight"][column]
        assert t["normed_2"][i, column] == pytest.approx(normed_2)
        gate = math.fsum(t["normed_2"][i] * w["w_gate"][column])
        up = math.fsum(t["normed_2"][i] * w["w_up"][column])
        assert t["activated"][i, column] == pytest.approx(gate / (1.0 + math.exp(-gate)) * up)
        down = math.fsum(t["activated"][i] * w["w_down"][column])
        assert t["block_output"][i, column] == pytest.approx(t["residual"][i, column] + down)


def test_rope_by_hand() -> None:
    """Half-split pairs: at position 1, pair 0 (dims 0 and 32) turns by 1 radian, pair 16 by 0.01; V stays."""
    qkv = np.zeros((2, QKV_OUT))
    qkv[:, 0] = 1.0  # Q head 0, dim 0
    qkv[:, 3 * DH + 32] = 1.0  # Q head 3, dim 32: the upper half of pair 0
    qkv[:, D + DH + 16] = 2.0  # K head 1, dim 16
    qkv[:, D + KV] = 5.0
    rotated = reference.rope(qkv, *reference.rope_tables(2))
    np.testing.assert_array_equal(rotated[0], qkv[0])
    assert rotated[1, 0] == pytest.approx(math.cos(1.0))
    assert rotated[1, 32] == pytest.approx(math.sin(1.0))
    assert rotated[1, 3 * DH] == pytest.approx(-math.sin(1.0))
    assert rotated[1, 3 * DH + 32] == pytest.approx(math.cos(1.0))
    assert rotated[1, D + DH + 16] == pytest.approx(2.0 * math.cos(0.01))
    assert rotated[1, D + DH + 48] == pytest.approx(2.0 * math.sin(0.01))
    assert rotated[1, D + KV] == 5.0
    assert np.count_nonzero(rotated[1]) == 7


def test_grouped_heads_by_hand() -> None:
    """Two tokens, equal scores: row 1 is the mean of the two values of KV head h / 4."""
    qkv = np.zeros((2, QKV_OUT))
    for g in range(HKV):
        qkv[0, D + KV + g * DH : D + KV + (g + 1) * DH] = 10.0 * (g + 1)
        qkv[1, D + KV + g * DH : D + KV + (g + 1) * DH] = 10.0 * (g + 1) + 2.0
    out = reference.attention(qkv)
    for h in range(HQ):
        g = h // GROUP
        assert np.all(out[0, h * DH : (h + 1) * DH] == 10.0 * (g + 1))
        assert np.all(out[1, h * DH : (h + 1) * DH] == 10.0 * (g + 1) + 1.0)


def test_one_weight_by_hand() -> None:
    """Scores 0 and 8 / 8 = 1 with values 0 and 1: the sigmoid of 1."""
    qkv = np.zeros((2, QKV_OUT))
    qkv[1, 0] = 8.0
    qkv[1, D] = 1.0
    qkv[1, D + KV] = 1.0
    assert reference.attention(qkv)[1, 0] == pytest.approx(1.0 / (1.0 + math.exp(-1.0)))


def test_planted_tokens_score_128_with_themselves() -> None:
    qkv = cases.make(STEP, 41, "planted", 13).qkv
    q, k, _ = reference.split_heads(qkv)
    for h in range(HQ):
        scores = reference.causal_scores(q[h], k[h // GROUP], np.arange(41))
        assert scores[0, 0] == 128.0
        assert scores[40, 40] == 128.0
        assert scores[40, 0] == 120.0
        assert scores[1, 0] == 96.0


@settings(max_examples=20, deadline=None)
@given(length=st.integers(1, 70), cut=st.integers(0, 69), seed=st.integers(0, 2**32))
def test_later_tokens_have_no_effect(length: int, cut: int, seed: int) -> None:
    """Whatever stands in later rows, NaN too, earlier rows come out the same to the last bit but rounding."""
    rng = np.random.default_rng(seed)
    qkv = rng.standard_normal((length, QKV_OUT))
    cut = min(cut, length)
    poisoned = qkv.copy()
    poisoned[cut:] = np.nan
    want = reference.attention(qkv)[:cut]
    np.testing.assert_allclose(reference.attention(poisoned)[:cut], want, rtol=1e-12, atol=1e-13)


@settings(max_examples=20, deadline=None)
@given(
    length=st.integers(1, 40),
    seed=st.integers(0, 2**32),
    shift=st.floats(-50, 50, allow_subnormal=False),  # those have too few digits for a relative bound
)
def test_softmax_invariants(length: int, seed: int, shift: float) -> None:
    """A vector added to every key moves a row's scores together, so nothing changes; constants come back."""
    rng = np.random.default_rng(seed)
    qkv = rng.standard_normal((length, QKV_OUT))
    moved = qkv.copy()
    moved[:, D : D + KV] += shift * rng.standard_normal(KV)
    np.testing.assert_allclose(reference.attention(moved), reference.attention(qkv), rtol=1e-9, atol=1e-9)
    qkv[:, D + KV :] = shift
    np.testing.assert_allclose(reference.attention(qkv), shift, rtol=1e-12)


def test_attention_takes_whole_row_blocks_and_remainders() -> None:
    """600 rows are two full blocks of query rows and a rest; each row depends on earlier rows only."""
    qkv = np.random.default_rng(14).standard_normal((600, QKV_OUT))
    whole = reference.attention(qkv)
    np.testing.assert_allclose(whole[:300], reference.attention(qkv[:300]), rtol=1e-11, atol=1e-12)


def test_block_against_torch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    functional = torch.nn.functional
    case = cases.make(STEP, 41, "spread", 15)
    right = reference.block(case.x, case.weights)
    x = torch.tensor(case.x, dtype=torch.float64)
    w = {name: torch.tensor(a, dtype=torch.float64) for name, a in case.weights.items()}
    normed = functional.rms_norm(x, (D,), w["norm_weight"], RMS_EPS)
    np.testing.assert_allclose(
        right["qkv"], functional.linear(normed, w["w_qkv"]).numpy(), rtol=1e-9, atol=1e-9
    )
    packed = torch.tensor(case.qkv, dtype=torch.float64)
    q = packed[:, :D].view(41, HQ, DH).transpose(0, 1)
    k = packed[:, D : D + KV].view(41, HKV, DH).transpose(0, 1).repeat_interleave(GROUP, 0)
    v = packed[:, D + KV :].view(41, HKV, DH).transpose(0, 1).repeat_interleave(GROUP, 0)
    out = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(0, 1).reshape(41, D)
    np.testing.assert_allclose(reference.attention(case.qkv), out.numpy(), rtol=1e-9, atol=1e-9)
