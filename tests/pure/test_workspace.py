"""A refused workspace is named by what it is."""

from __future__ import annotations

from tilestep import contract
from tilestep.judge.workspace import describe, too_large

ONLINE = contract.STEP["online-attention"]
CAUSAL = contract.STEP["causal-attention"]


def test_a_score_matrix_is_recognised_by_its_growth() -> None:
    says = describe(ONLINE, lambda T: T * T * contract.HQ * 4, (33, 33 * 33 * 32))
    assert says == "the seam asks for a T x T workspace, 134 MB at T = 2048; online-attention allows none"


def test_another_workspace_is_told_by_its_size() -> None:
    says = describe(CAUSAL, lambda T: T * 8192, (128, 128 * 8192))
    assert "1,048,576 bytes at T = 128" in says
    assert "4096 bytes a row" in says


def test_a_workspace_of_one_length_alone_is_named_with_it() -> None:
    """Nothing is asked for at the lengths that are looked at: 0 is no four times 0."""
    says = describe(ONLINE, lambda T: 0, (33, 64_000_000))
    assert says == "the seam asks for a workspace of 64,000,000 bytes at T = 33; online-attention allows none"


def test_device_arrays_count_as_workspace() -> None:
    T = contract.PROFILE_LENGTH
    says = too_large(ONLINE, {"scores": 4 * T * T, "arrived": 4}, T)
    assert says == (
        "the array scores is a T x T workspace, 16,777,216 bytes; all its variables "
        "hold 16,777,220; online-attention allows none and 16,384 in variables"
    )
    assert says is not None
    assert "a T x T" not in (too_large(ONLINE, {"rows": 4 * T * contract.HQ}, T) or "")
    assert too_large(ONLINE, {"rows": 4 * T * contract.HQ}, T) is not None
    assert too_large(CAUSAL, {"rows": 4 * T * contract.HQ}, T) is None


def test_counters_and_tables_are_no_workspace() -> None:
    free = contract.FREE_VARIABLE_BYTES
    assert too_large(ONLINE, {}, 128) is None
    assert too_large(ONLINE, {"table": free}, 128) is None
    assert too_large(ONLINE, {"table": free, "flag": 1}, 128) is not None
