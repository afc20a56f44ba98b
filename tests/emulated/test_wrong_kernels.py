"""Every kernel of tests/wrong gets the verdict that is recorded beside it.

The record holds the outcome, the earliest wrong tensor, the mistake that comes first and the findings that
must be there. A faulty kernel may show more findings than the record names, a merely wrong one none at all.
Where C++ leaves the behaviour undefined, the record is g++'s, and other compilers need only be caught too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tilestep.contract import STEP
from tilestep.emulator.compilers import find_compiler
from tilestep.subjects import registered, subject

FAILED = {"wrong", "unsafe", "refused", "broken"}

# Nearly all that it spoils is NaN, and a constant in place of the maximum explains that as well.
WITHOUT_KERNEL = {"attention": {"max-not-scaled"}}


def test_verdict_is_the_recorded_one(wrong_kernel: Any, judged: Any) -> None:
    verdict = judged(wrong_kernel)
    record = wrong_kernel.record

    if record.get("undefined_behaviour") and find_compiler().kind != "gcc":
        assert verdict.outcome in FAILED, verdict.says
        return
    assert verdict.outcome == record["outcome"], verdict.says
    assert (verdict.first_wrong.tensor if verdict.first_wrong else None) == record["first_wrong"]
    assert [mistake.code for mistake in verdict.mistakes][:1] == record["mistakes"][:1]
    found = {(finding.code, finding.line) for finding in verdict.findings}
    if find_compiler().kind == "gcc":
        assert wrong_kernel.findings <= found
    else:  # another compiler may move a load out of its loop, to another line
        assert {code for code, _ in wrong_kernel.findings} <= {code for code, _ in found}
    if not wrong_kernel.findings:
        assert not found


def test_no_record_lets_a_wrong_kernel_pass(wrong_kernels: Any) -> None:
    outcomes = {kernel.record["outcome"] for kernel in wrong_kernels}
    assert outcomes <= FAILED


@pytest.mark.parametrize("folder", ["wrong", "right"])
def test_every_kernel_has_a_record_and_every_record_a_kernel(folder: str) -> None:
    files = (Path(__file__).parents[1] / folder).rglob("*.*")
    kinds: dict[Path, set[str]] = {}
    for file in files:
        kinds.setdefault(file.with_suffix(""), set()).add(file.suffix)
    assert {str(stem): kind for stem, kind in kinds.items() if kind != {".cu", ".json"}} == {}


def test_records_name_what_is_wrong(wrong_kernels: Any) -> None:
    """At least nine of ten: by a mistake, a finding with its line, or the rule that refuses the seam."""
    named = [
        kernel
        for kernel in wrong_kernels
        if kernel.record["mistakes"] or kernel.findings or kernel.record["outcome"] == "refused"
    ]
    assert len(wrong_kernels) >= 120
    assert len(named) >= 0.9 * len(wrong_kernels)


def test_every_kernel_says_what_is_wrong_and_where_that_comes_from(wrong_kernels: Any) -> None:
    for kernel in wrong_kernels:
        assert kernel.file.read_text().startswith("// Wrong: "), kernel
        assert kernel.record["source"], kernel
        assert kernel.file.parent.name == STEP[kernel.step].kernels, kernel


@pytest.mark.parametrize("folder", sorted({STEP[step].kernels for step in registered()}))
def test_every_named_mistake_of_a_step_has_a_kernel(folder: str, wrong_kernels: Any) -> None:
    of_folder = [kernel for kernel in wrong_kernels if kernel.file.parent.name == folder]
    first = {kernel.record["mistakes"][0] for kernel in of_folder if kernel.record["mistakes"]}
    steps = [step for step in registered() if STEP[step].kernels == folder]
    known = {mistake.code for step in steps for mistake in subject(step).mistakes}
    assert first == known - WITHOUT_KERNEL.get(folder, set())
