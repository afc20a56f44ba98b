"""Mathematics and intrinsics: directed roundings against exact fractions, functions against float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from tilestep.program import Floats

COUNT = 4096


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(scope="module")
def rows() -> Floats:
    rng = np.random.default_rng(11)
    a = (rng.normal(size=COUNT) * np.exp2(rng.integers(-40, 40, COUNT))).astype(np.float32)
    b = (rng.normal(size=COUNT) * 10).astype(np.float32)
    c = (rng.normal(size=COUNT) * np.exp2(rng.integers(-60, 40, COUNT))).astype(np.float32)
    a[:64] = rng.integers(-8, 8, 64) + 0.5  # ties
    a[64:128] = (rng.normal(size=64) * 2.0**31).astype(np.float32)
    b[:32] = rng.integers(-4, 4, 32)
    b[32:64] = 1e-30
    special = np.array(
        [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, 3e38, 2.0**31, -(2.0**31), 2.0**32], np.float32
    )
    a[-len(special) :] = special
    whole = rng.integers(0, 2**32, (2, COUNT), dtype=np.uint32)
    return np.concatenate([np.stack([a, b, c]), whole.view(np.float32)])


def bracket(value: Fraction) -> tuple[float, float]:
    """The floats at or below and at or above a number."""
    near = (
        np.float32(float(value))
        if abs(value) < Fraction(2) ** 128
        else np.float32(math.copysign(math.inf, value))
    )
    exact = Fraction(float(near)) if np.isfinite(near) else None
    if exact == value:
        return float(near), float(near)
    beyond = near > 0 if exact is None else exact > value
    if beyond:
        return float(np.nextafter(near, np.float32(-np.inf))), float(near)
    return float(near), float(np.nextafter(near, np.float32(np.inf)))


def test_directed_roundings_are_exact(rows: Floats, output: Callable[..., Floats]) -> None:
    got = output("numbers.cu", rows, (70, COUNT), case=0)
    numbers = np.flatnonzero(np.isfinite(rows[:3]).all(axis=0))
    for i in numbers:
        a, b, c = (Fraction(float(row[i])) for row in rows[:3])
        for first, value in ((0, a + b), (4, a - b), (8, a * b), (12, a / b if b else None), (20, a * b + c)):
            if value is None or value == 0 or abs(value) < Fraction(2) ** -126:
                continue
            below, above = bracket(value)
            nearest, zero, up, down = (float(x) for x in got[first : first + 4, i])
            assert (down, up) == (below, above), (first, i, float(value))
            assert zero == (below if value > 0 else above), (first, i)
            assert nearest in (below, above)
            if math.isfinite(below) and math.isfinite(above):
                assert abs(Fraction(nearest) - value) * 2 <= Fraction(above) - Fraction(below)
        if a > 0:
            nearest, zero, up, down = (float(x) for x in got[16:20, i])
            assert Fraction(down) ** 2 <= a <= Fraction(up) ** 2
            assert up in (down, float(np.nextafter(np.float32(down), np.float32(np.inf))))
            assert zero == down
            assert nearest == float(np.sqrt(np.float32(float(a))))


def test_numbers_become_whole_ones(rows: Floats, output: Callable[..., Floats]) -> None:
    got = output("numbers.cu", rows, (70, COUNT), case=0)
    a = np.where(np.isnan(rows[0]), 0, rows[0]).astype(np.float64)
    for row, rule in enumerate((np.rint, np.trunc, np.ceil, np.floor)):
        want = np.clip(rule(a), -(2**31), 2**31 - 1).astype(np.int32)
        np.testing.assert_array_equal(got[24 + row].view(np.int32), want)
    for row, rule in enumerate((np.rint, np.trunc)):
        want = np.clip(rule(a), 0, 2**32 - 1).astype(np.uint32)
        np.testing.assert_array_equal(got[28 + row].view(np.uint32), want)
    for i, p in enumerate(rows[3].view(np.int32).tolist()):
        below, above = bracket(Fraction(p))
        assert got[30, i] == np.float32(p)
        assert (got[33, i], got[32, i]) == (below, above)
        assert got[31, i] == (below if p > 0 else above)


def relative(got: Floats, want: NDArray[np.float64]) -> float:
    """Largest error in units of float's epsilon, where the right value is an ordinary number."""
    ordinary = np.isfinite(want) & (np.abs(want) > 2.0**-120) & (np.abs(want) < 2.0**126)
    assert ordinary.sum() > COUNT // 8
    return float(np.max(np.abs(got[ordinary] - want[ordinary]) / np.abs(want[ordinary]))) / 2.0**-24


def test_functions_are_close_to_float64(rows: Floats, output: Callable[..., Floats]) -> None:
    got = dict(enumerate(output("numbers.cu", rows, (70, COUNT), case=0)[34:], start=34))
    a, b, c = (row.astype(np.float64) for row in rows[:3])
    erf = np.array([math.erf(x) for x in b])
    cdf = np.array([0.5 * math.erfc(-x / math.sqrt(2)) for x in b])
    close = {
        34: 1 / np.sqrt(a), 35: 1 / a, 36: 1 / np.sqrt(a), 43: np.exp(b), 44: np.exp2(b), 45: 10.0**b,
        47: np.log2(a), 48: np.sqrt(a), 49: a / b, 52: np.tanh(b), 53: erf,
        54: np.sign(a) / np.cbrt(np.abs(a)), 55: cdf, 60: 1 / np.sqrt(a * a + b * b + c * c),
    }  # fmt: skip
    for row, want in close.items():
        assert relative(got[row], want) < (64 if row == 48 else 4), row
    # The fast exponential loses about |b| units: that is the hardware's way, and must not be hidden here.
    assert 4 < relative(got[42], np.exp(b)) < 2 * np.abs(b).max() + 4
    np.testing.assert_allclose(got[46], np.log(a), rtol=1e-6, atol=1e-6)
    for row, want in ((50, np.sin(np.pi * b)), (51, np.cos(np.pi * b)), (56, np.sin(b)), (57, np.cos(b)),
                      (58, np.sin(b)), (59, np.cos(b))):  # fmt: skip
        np.testing.assert_allclose(got[row], want, rtol=0, atol=2e-6, err_msg=str(row))
    whole = np.flatnonzero(b == np.rint(b))
    assert whole.size >= 32
    assert not np.any(got[50][whole])
    np.testing.assert_array_equal(np.abs(got[51][whole]), np.ones(whole.size, np.float32))
    np.testing.assert_array_equal(got[37], np.nan_to_num(np.clip(rows[0], 0, 1), nan=0.0))
    for row in (38, 40):
        np.testing.assert_array_equal(got[row], np.fmin(rows[0], rows[1]))
    for row in (39, 41):
        np.testing.assert_array_equal(got[row], np.fmax(rows[0], rows[1]))
    np.testing.assert_array_equal(got[61], np.copysign(rows[0], rows[1]))
    np.testing.assert_array_equal(got[62], np.ldexp(rows[0], 3))
    np.testing.assert_array_equal(got[63], np.fmod(rows[0], rows[1]))
    kinds = np.isnan(a) + 2 * np.isinf(a) + 4 * np.isfinite(a)
    assert ((got[64].view(np.uint32) & 7) == kinds).all()


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def permuted(p: int, q: int, selector: int) -> int:
    pool = (q << 32 | p).to_bytes(8, "little")
    return int.from_bytes(bytes(pool[selector >> (4 * i) & 7] for i in range(4)), "little")


def dot(p: int, q: int, bits: int) -> int:
    pairs = zip(p.to_bytes(4, "little"), q.to_bytes(4, "little"), strict=True)
    return sum(signed(x, 8) * signed(y, 8) if bits else x * y for x, y in pairs) + 5


def reference(p: int, q: int) -> list[int]:
    wide, both = p << 32 | q, q << 32 | p
    sp, sq = signed(p), signed(q)
    low = lambda x: (x & -x).bit_length()  # noqa: E731
    return [
        p.bit_count(), 32 - (p >> (q & 31)).bit_length(), low(p << (q & 31) & 0xFFFFFFFF),
        int(f"{p:032b}"[::-1], 2),
        wide.bit_count(), 64 - (wide >> (q & 63)).bit_length(), low(wide << (q & 63) & (2**64 - 1)),
        int(f"{wide:064b}"[::-1], 2) >> 32,
        permuted(p, q, p ^ q), both << (q & 31) >> 32, both >> (p & 31),
        both << min(p & 63, 32) >> 32, both >> min(q & 63, 32),
        signed(p, 24) * signed(q, 24), (p & 0xFFFFFF) * (q & 0xFFFFFF), sp * sq >> 32, p * q >> 32,
        signed(wide, 64) * q >> 64, wide * wide >> 96,
        dot(p, q, 8), dot(p, q, 0), abs(sp - sq) + 1, abs(p - q) + 1,
        (sp + sq) >> 1, (sp + sq + 1) >> 1, (p + q) >> 1,
        min(p, q), max(sp, sq), min(p, q), max(p, q), p & 0x7FEFFFFF, q,
    ]  # fmt: skip


def test_integer_intrinsics(rows: Floats, output: Callable[..., Floats]) -> None:
    got = output("numbers.cu", rows, (32, COUNT), case=1).view(np.uint32)
    for i, (p, q) in enumerate(zip(*rows[3:5].view(np.uint32).tolist(), strict=True)):
        want = [value & 0xFFFFFFFF for value in reference(p, q)]
        assert got[:, i].tolist() == want, (hex(p), hex(q))
