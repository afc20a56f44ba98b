"""No kernel of tests/right is flagged: no finding, no mistake, no wrong value, in any style of writing."""

from __future__ import annotations

from typing import Any

from tilestep.contract import STEP


def test_right_kernel_is_not_flagged(right_kernel: Any, judged: Any) -> None:
    verdict = judged(right_kernel)

    assert verdict.outcome == right_kernel.record["outcome"] == "passed", verdict.says
    assert verdict.first_wrong is None
    assert not verdict.mistakes
    assert not verdict.findings
    assert verdict.cases
    assert all(case.ok for case in verdict.cases)


def test_every_right_kernel_says_its_style(right_kernels: Any) -> None:
    assert len(right_kernels) >= 40
    for kernel in right_kernels:
        assert kernel.file.read_text().startswith("// Right: "), kernel
        assert kernel.file.parent.name == STEP[kernel.step].kernels, kernel
