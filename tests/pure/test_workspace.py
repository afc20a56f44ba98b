"""A refused workspace is named by what it is."""

from __future__ import annotations

from tilestep import contract
from tilestep.judge.workspace import describe

ONLINE = contract.STEP["online-attention"]
CAUSAL = contract.STEP["causal-attention"]


def test_a_score_matrix_is_recognised_by_its_growth() -> None:
    says = describe(ONLINE, lambda T: T * T * contract.HQ * 4)
    assert says == "the seam asks for a T x T workspace, 134 MB at T = 2048; online-attention allows none"


def test_another_workspace_is_told_by_its_size() -> None:
    says = describe(CAUSAL, lambda T: T * 8192)
    assert "1,048,576 bytes at T = 128" in says
    assert "4096 bytes a row" in says
