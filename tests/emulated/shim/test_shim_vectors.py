"""Vector types: a GPU moves each with one instruction, so the checkers see one access."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tilestep.program import Floats, Run

THREADS, VALUES = 64, 16
INPUT = np.random.default_rng(3).normal(size=(THREADS, VALUES)).astype(np.float32)


def launch_cost(run: Callable[..., Run]) -> int:
    """Accesses of threads that touch nothing: clang shows how the arguments reach the kernel."""
    return run("vectors.cu", INPUT, INPUT.shape, case=13, mode="check").accesses


@pytest.mark.parametrize(
    ("case", "bytes_each"),
    [(0, 4), (1, 8), (2, 16), (3, 16), (4, 8), (5, 16), (6, 4), (7, 8), (8, 4), (9, 16)],
    ids=["float", "float2", "float4", "int4", "uint2", "double2", "half2", "ushort4", "uchar4", "struct"],
)
def test_a_vector_moves_in_one_access(case: int, bytes_each: int, run: Callable[..., Run]) -> None:
    ran = run("vectors.cu", INPUT, INPUT.shape, case=case, mode="check")
    assert (ran.ended, ran.findings) == ("finished", ())
    np.testing.assert_array_equal(ran.outputs["attnOut"], INPUT)
    assert 0 <= ran.accesses - THREADS * 2 * VALUES * 4 // bytes_each <= launch_cost(run) < THREADS * 4


def test_arithmetic_on_the_parts_keeps_the_access_whole(run: Callable[..., Run]) -> None:
    ran = run("vectors.cu", INPUT, INPUT.shape, case=10, mode="check")
    assert (ran.ended, ran.findings) == ("finished", ())
    np.testing.assert_allclose(ran.outputs["attnOut"], INPUT, rtol=1e-5, atol=1e-5)
    assert 0 <= ran.accesses - THREADS * 4 * VALUES // 4 <= launch_cost(run) < THREADS * 4


@pytest.mark.parametrize("mode", ["fast", "check"])
def test_vectors_are_made_as_in_cuda(mode: str, output: Callable[..., Floats]) -> None:
    got = output("vectors.cu", INPUT, INPUT.shape, case=11, mode=mode)
    assert got[0].tolist() == [1, 0, 4, 7, 2, 3, 8, 6, 3, -3, 255, 12, 4, 16, 32, 8]
    assert (got == got[0]).all()


@pytest.mark.parametrize("mode", ["fast", "check"])
def test_library_copies_are_seen(mode: str, output: Callable[..., Floats]) -> None:
    np.testing.assert_array_equal(output("vectors.cu", INPUT, INPUT.shape, case=12, mode=mode), INPUT)
