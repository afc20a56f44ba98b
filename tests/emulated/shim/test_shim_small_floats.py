"""half against NumPy, bfloat16 against its definition, the fused operation against exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from tilestep.program import Floats

COUNT = 65536
ALL_BITS = np.arange(COUNT, dtype=np.uint16)
Bits = NDArray[np.uint16]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Overflow and NaN are what is looked at here."""
    with np.errstate(all="ignore"):
        yield


def widen(bits: Bits, kind: str) -> Floats:
    if kind == "half":
        return bits.view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << 16).view(np.float32)


def narrow(values: NDArray[np.float64], kind: str) -> Bits:
    """Rounded to nearest even from float64, once."""
    if kind == "half":
        return values.astype(np.float16).view(np.uint16)
    return np.array(
        [round_exactly(Fraction(v), 8, -133) if np.isfinite(v) else special(v) for v in values.tolist()],
        np.uint16,
    )


def special(value: float) -> int:
    return 0x7FFF if value != value else 0x7F80 if value > 0 else 0xFF80


def round_exactly(value: Fraction, digits: int, lowest: int) -> int:
    """Bits of the nearest number with so many significant digits, none of them below 2^lowest."""
    if value == 0:
        return 0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = max(exponent - digits + 1, lowest)
    whole = round(size / Fraction(2) ** unit)  # Python rounds halves to even
    bits = ((unit - lowest) << (digits - 1)) + whole
    infinity = {11: 0x7C00, 8: 0x7F80}[digits]
    return min(bits, infinity) | (0x8000 if value < 0 else 0)


def canonical(bits: Bits, kind: str) -> Bits:
    """Every NaN as the one that the hardware makes."""
    infinity = 0x7C00 if kind == "half" else 0x7F80
    return np.where((bits & 0x7FFF) > infinity, np.uint16(0x7FFF), bits)


def operands(kind: str) -> Floats:
    """All bit patterns as a; b and c from everywhere, and often near a, where sums cancel and round."""
    rng = np.random.default_rng(7)
    b, c = rng.integers(0, COUNT, (2, COUNT), dtype=np.uint16)
    near = rng.random(COUNT) < 0.5
    b = np.where(near, ALL_BITS ^ rng.integers(0, 64, COUNT, dtype=np.uint16) ^ 0x8000, b).astype(np.uint16)
    if kind == "bfloat16":  # products below the smallest normal number, where a float is short of bits too
        exponent = 127 - (ALL_BITS >> 7 & 0xFF).astype(int) - rng.integers(0, 9, COUNT)
        small = (exponent >= 0) & (ALL_BITS % 4 == 3)
        b = np.where(small, (b & 0x807F) | (np.maximum(exponent, 0) << 7), b).astype(np.uint16)
    floats = rng.integers(0, 2**32, COUNT, dtype=np.uint32).view(np.float32)
    if kind == "half":  # most floats overflow or vanish: take half of them from where half's numbers lie
        floats[::2] = rng.normal(size=COUNT // 2).astype(np.float32) * np.exp2(
            rng.integers(-26, 17, COUNT // 2)
        )
    floats[1::4] = widen(ALL_BITS[1::4], kind)
    ties = widen(ALL_BITS[2::4], kind).view(np.uint32) | np.uint32(1 << (12 if kind == "half" else 15))
    floats[2::4] = ties.view(np.float32)
    floats[np.isnan(floats)] = np.nan
    return np.stack([ALL_BITS, b, c, floats]).astype(np.float32)


@pytest.mark.parametrize("kind", ["half", "bfloat16"])
def test_every_operation_rounds_once(kind: str, output: Callable[..., Floats]) -> None:
    rows = operands(kind)
    got = output("small_floats.cu", rows, (20, COUNT), case=0 if kind == "half" else 1)
    a_bits, b_bits, c_bits = (row.astype(np.uint16) for row in rows[:3])
    a, b, c = (widen(bits, kind).astype(np.float64) for bits in (a_bits, b_bits, c_bits))
    digits, lowest = (11, -24) if kind == "half" else (8, -133)
    bits = got.astype(np.uint16)

    exact = {0: a + b, 1: a - b, 2: a * b, 3: a / b, 5: np.sqrt(a)}
    some = np.arange(0, COUNT, 1 if kind == "half" else 7)  # fractions are slow
    for row, values in exact.items():
        finite = np.isfinite(values[some]) & (values[some] != 0)
        want = canonical(narrow(values[some][finite], kind), kind)
        np.testing.assert_array_equal(canonical(bits[row][some][finite], kind), want, err_msg=f"row {row}")
        rest = ~np.isfinite(values)
        np.testing.assert_array_equal(widen(bits[row][rest], kind), values[rest].astype(np.float32))

    checked = np.flatnonzero(np.isfinite(a) & np.isfinite(b) & np.isfinite(c))[:: 3 if kind == "half" else 5]
    for i in checked:
        value = Fraction(a[i]) * Fraction(b[i]) + Fraction(c[i])
        want_bits = round_exactly(value, digits, lowest)
        if value != 0:
            assert bits[4][i] == want_bits, (hex(a_bits[i]), hex(b_bits[i]), hex(c_bits[i]))

    np.testing.assert_array_equal(bits[6], canonical(a_bits ^ 0x8000, kind))
    assert {0x7FFF} >= {*bits[7][np.isnan(a) & np.isnan(b)].tolist(), *bits[6][np.isnan(a)].tolist()}
    np.testing.assert_array_equal(widen(bits[7], kind), np.fmax(a, b).astype(np.float32))
    np.testing.assert_array_equal(widen(bits[8], kind), np.fmin(a, b).astype(np.float32))
    # With a NaN, a != b holds as in C++; __hne is the ordered comparison, __hltu the unordered one.
    ordered = (a < b) + 2 * (a == b) + 8 * (a >= b) + 16 * ((a < b) | (a > b))
    np.testing.assert_array_equal(bits[9], ordered + 4 * (a != b) + 32 * ~(a >= b))
    np.testing.assert_array_equal(got[10], a.astype(np.float32))
    if kind == "half":
        np.testing.assert_array_equal(canonical(bits[18], kind), canonical(bits[0], kind))
        np.testing.assert_array_equal(canonical(bits[19], kind), canonical(bits[4], kind))


@pytest.mark.parametrize("kind", ["half", "bfloat16"])
def test_conversions_round_as_they_say(kind: str, output: Callable[..., Floats]) -> None:
    rows = operands(kind)
    got = output("small_floats.cu", rows, (20, COUNT), case=0 if kind == "half" else 1)
    bits = got.astype(np.uint16)
    x = rows[3].astype(np.float64)
    infinity = 0x7C00 if kind == "half" else 0x7F80
    nearest, zero, up, down = (canonical(bits[row], kind) for row in (13, 14, 15, 16))
    np.testing.assert_array_equal(bits[11], bits[13])

    sample = np.flatnonzero(np.isfinite(x) & (x != 0))[::3]
    np.testing.assert_array_equal(nearest[sample], narrow(x[sample], kind))
    beyond = (x * (1.0 + 2.0**-40))[sample]
    np.testing.assert_array_equal(bits[12][sample], narrow(beyond, kind))

    number = np.isfinite(x)
    below, above = widen(down, kind)[number], widen(up, kind)[number]
    assert np.all(below <= x[number])
    assert np.all(x[number] <= above)
    # Nothing lies between the two, unless they are the same: x itself.
    inside = np.isfinite(below) & np.isfinite(above) & (below != above)
    steps = down[number][inside].astype(int) - up[number][inside]
    assert np.all((np.abs(steps) == 1) | ((below[inside] == 0) | (above[inside] == 0)))
    np.testing.assert_array_equal(below[below == above], x[number][below == above])
    np.testing.assert_array_equal(zero[number], np.where(x[number] > 0, down[number], up[number]))
    assert set(nearest[np.isnan(x)].tolist()) <= {0x7FFF}
    assert set((zero[np.isinf(x)] & 0x7FFF).tolist()) <= {infinity}


@pytest.mark.parametrize("kind", ["half", "bfloat16"])
def test_whole_numbers_come_back(kind: str, output: Callable[..., Floats]) -> None:
    rows = operands(kind)
    got = output("small_floats.cu", rows, (20, COUNT), case=0 if kind == "half" else 1)[17]
    as_number = narrow(ALL_BITS.astype(np.float64), kind)
    back = widen(as_number, kind).astype(np.float64)
    np.testing.assert_array_equal(got, np.where(np.isinf(back), 2.0**31, back).astype(np.float32))
