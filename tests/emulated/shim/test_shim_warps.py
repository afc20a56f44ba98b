"""Shuffles, votes, matches and cooperative groups, in the fast and the checked build."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tilestep.program import Floats

VALUES = np.arange(64, dtype=np.float32).reshape(1, 64)
MODES = pytest.mark.parametrize("mode", ["fast", "check"])


def source(kind: str, lane: int, delta: int, width: int) -> int:
    """The lane that is read, told by segments: CUDA's rule in words, not in bits."""
    first = lane // width * width
    delta %= 32
    if kind == "index":
        return first + delta % width
    if kind == "up":
        return lane - delta if lane - delta >= first else lane
    if kind == "down":
        return lane + delta if lane + delta < first + width else lane
    return lane ^ delta if lane ^ delta < first + width else lane  # earlier segments may be read, later not


@MODES
def test_shuffles_follow_the_segments(mode: str, output: Callable[..., Floats]) -> None:
    rows = 6 * 33 * 4
    got = output("warp.cu", VALUES, (rows, 64), case=0, mode=mode).view(np.int32)
    row = 0
    for width in (32, 16, 8, 4, 2, 1):
        for delta in range(33):
            for kind in ("index", "up", "down", "xor"):
                want = [warp * 32 + source(kind, lane, delta, width) for warp in (0, 1) for lane in range(32)]
                assert got[row].tolist() == want, (kind, width, delta)
                row += 1


@MODES
def test_shuffles_carry_every_type(mode: str, output: Callable[..., Floats]) -> None:
    got = output("warp.cu", VALUES, (7, 64), case=1, mode=mode).view(np.int32)
    want = np.arange(64) ^ 5
    np.testing.assert_array_equal(got[0].view(np.float32), want.astype(np.float32))
    np.testing.assert_array_equal(got[1].view(np.float32), (want + 2.0**-30).astype(np.float32))
    for row in range(2, 7):
        np.testing.assert_array_equal(got[row], want)


@MODES
def test_votes_in_a_partial_warp(mode: str, output: Callable[..., Floats]) -> None:
    got = output("warp.cu", VALUES, (18, 64), case=2, mode=mode).view(np.uint32)[:, :48]
    warps = [np.arange(32), np.arange(32, 48)]

    def spread(rule: Callable[[np.ndarray], int]) -> list[int]:
        return [rule(warp) & 0xFFFFFFFF for warp in warps for _ in warp]

    def mask(flags: np.ndarray) -> int:
        return sum(1 << i for i, flag in enumerate(flags) if flag)

    assert got[0].tolist() == spread(lambda warp: mask(warp % 2 == 1))
    assert got[1].tolist() == [1] * 48
    assert got[2].tolist() == [1] * 48
    assert got[3].tolist() == [0] * 48
    assert got[4].tolist() == [mask(warp % 5 == value % 5) for warp in warps for value in warp]
    assert got[5].tolist() == spread(lambda warp: mask(warp >= 0))
    assert got[6].tolist() == [1] * 48
    assert got[7].tolist() == [0] * 48
    assert got[8].tolist() == [0] * 48
    assert got[9].tolist() == spread(lambda warp: int(warp.sum()))
    assert got[10].tolist() == spread(lambda warp: int(warp.min()) - 40)
    assert got[11].tolist() == spread(lambda warp: int(warp.max()))
    assert got[12].tolist() == spread(lambda warp: int(np.bitwise_and.reduce(warp | 64)))
    assert got[13].tolist() == spread(lambda warp: int(np.bitwise_or.reduce(warp)))
    assert got[14].tolist() == spread(lambda warp: int(np.bitwise_xor.reduce(warp)))
    assert got[15].tolist() == [16] * 48
    assert got[16].tolist() == [1] * 48
    assert got[17].tolist() == [0] * 48


@MODES
def test_two_halves_of_a_warp_meet_apart(mode: str, output: Callable[..., Floats]) -> None:
    got = output("warp.cu", VALUES, (2, 64), case=3, mode=mode)
    sums = [sum(range(16)), sum(range(32, 48))]
    want = [sums[0]] * 16 + [31] * 16 + [sums[1]] * 16 + [63] * 16
    assert got[0].tolist() == want
    assert got[1].view(np.uint32).tolist() == [1] * 64


@MODES
def test_groups_know_their_members(mode: str, output: Callable[..., Floats]) -> None:
    got = output("groups.cu", VALUES, (25, 64), mode=mode)
    i = np.arange(64)
    eights = i // 8 * 8
    warps = i // 32 * 32
    want = [
        np.full(64, 64),
        i % 32,
        i // 32,
        np.full(64, 2),
        i % 8,
        i % 32 // 8,
        np.full(64, 4),
        warps * 32 + 496,
        eights * 8 + 28,
        warps * 32 + 496,
        eights + 7,
        eights,
        np.where(i % 8 == 0, i, i - 1),
        i ^ 3,
        [sum(1 << k for k in range(8) if (first + k) % 3 == 0) for first in eights],
        eights == 8,
        i < 32,
        warps + 5 + 2,
        warps + 7 + 0.5,
        i,
    ]
    for row, values in enumerate(want):
        np.testing.assert_array_equal(got[row], np.asarray(values, np.float32), err_msg=f"row {row}")
    members = i % 4 == 1
    here = np.arange(8)
    for row, values in enumerate(
        [
            np.full(16, 8),
            np.tile(here, 2),
            np.repeat([9, 41], 8),
            np.repeat([8 * 1 + 4 * 28, 8 * 33 + 4 * 28], 8),
            np.concatenate([np.minimum(1 + 4 * (here + 1), 29), np.minimum(33 + 4 * (here + 1), 61)]),
        ]
    ):
        np.testing.assert_array_equal(got[20 + row][members], values, err_msg=f"coalesced row {row}")
