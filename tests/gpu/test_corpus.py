"""Our kernels and the corpus on a GPU: what is right passes, and what is wrong is told as on the CPU."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tilestep import kernels
from tilestep.contract import STEP
from tilestep.subjects import registered, subject

TESTS = Path(__file__).parents[1]
ATTENTION_LENGTHS = (1, 41, 97)  # those at which tests/emulated judges the corpus


@dataclass(frozen=True)
class Kernel:
    """A kernel, and what is recorded of it."""

    file: Path
    step: str
    record: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def lengths(self) -> tuple[int, ...]:
        usual = ATTENTION_LENGTHS if STEP[self.step].kernels == "attention" else subject(self.step).lengths
        return tuple(self.record.get("lengths", usual))

    @property
    def number(self) -> int:
        return int(self.file.name.split("-")[0])

    def __str__(self) -> str:
        return f"{self.file.parent.name}-{self.file.stem}"


def recorded(folder: str) -> list[Kernel]:
    """The kernels of a folder of tests/ with the records beside them."""
    files = sorted((TESTS / folder).glob("*.cu"))
    records = [json.loads(file.with_suffix(".json").read_text(encoding="utf-8")) for file in files]
    return [Kernel(file, record["step"], record) for file, record in zip(files, records, strict=True)]


def our_kernels() -> list[Kernel]:
    step_of = {STEP[step].kernels: step for step in reversed(registered())}  # attention's once
    return [Kernel(kernels.path(name), step_of[name.split("/")[0]]) for name in kernels.names()]


OURS = our_kernels()
RIGHT = recorded("right/attention")
RIGHT_STEPS = [k for folder in sorted((TESTS / "right").iterdir()) for k in recorded(f"right/{folder.name}")]
RIGHT_STEPS = [kernel for kernel in RIGHT_STEPS if kernel not in RIGHT]

# What a GPU does with these is not for us to say: races, barriers and shuffles that the hardware may forgive,
# reads of memory that holds what it holds, a stack that overflows, and static shared memory of one byte too
# much, which newer compilers let pass. The emulator is there to find them.
UNSEEN = {64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 76, 77, 79, 80, 81, 85, 92, 94}
ENDLESS = {90, 91}  # test_faults.py has one, with less patience
# What the GPU's target tells in its own way: writes that miss a buffer are found in the guard bands, and an
# address of the host's is another one in every recording.
OTHERWISE = {74: {"unsafe", "wrong"}, 75: {"unsafe"}, 93: {"refused", "broken", "wrong"}}
GUARDED = {74, 75}
WRONG = [kernel for kernel in recorded("wrong/attention") if kernel.number not in UNSEEN | ENDLESS]


def verdict_of(kernel: Kernel, every: list[Kernel], judged: Any) -> Any:
    found = judged(every)[kernel.file]
    if isinstance(found, Exception):
        raise found
    return found


def assert_passed(verdict: Any) -> None:
    assert verdict.outcome == "passed", verdict.says
    assert verdict.target.kind == "gpu"
    assert verdict.cases
    assert all(case.ok for case in verdict.cases)
    assert not verdict.findings


@pytest.mark.parametrize("kernel", OURS, ids=str)
def test_our_kernel_is_right(kernel: Kernel, judged: Any) -> None:
    verdict = verdict_of(kernel, OURS, judged)
    assert_passed(verdict)
    assert all(case.ratio <= 0.5 for case in verdict.cases), "an honest kernel is far below its tolerance"


@pytest.mark.parametrize("kernel", RIGHT, ids=str)
def test_a_right_attention_is_accepted(kernel: Kernel, judged: Any) -> None:
    assert_passed(verdict_of(kernel, RIGHT, judged))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", RIGHT_STEPS, ids=str)
def test_a_right_kernel_of_another_step_is_accepted(kernel: Kernel, judged: Any) -> None:
    assert_passed(verdict_of(kernel, RIGHT_STEPS, judged))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", WRONG, ids=str)
def test_a_wrong_attention_is_told_as_on_the_cpu(kernel: Kernel, judged: Any) -> None:
    verdict = verdict_of(kernel, WRONG, judged)
    record = kernel.record
    assert verdict.outcome in OTHERWISE.get(kernel.number, {record["outcome"]}), verdict.says
    if verdict.outcome != record["outcome"]:
        return
    assert (verdict.first_wrong.tensor if verdict.first_wrong else None) == record["first_wrong"]
    if record["mistakes"] and not record["findings"]:
        assert record["mistakes"][0] in [mistake.code for mistake in verdict.mistakes]
    codes = {finding["code"] for finding in record["findings"]} & {"launch-refused", "input-written"}
    assert codes <= {finding.code for finding in verdict.findings}


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [kernel for kernel in WRONG if kernel.number in GUARDED], ids=str)
def test_a_write_past_the_output_is_found(kernel: Kernel, judged: Any) -> None:
    verdict = verdict_of(kernel, WRONG, judged)
    assert "guard-band" in {finding.code for finding in verdict.findings}


def test_the_corpus_is_there() -> None:
    assert len(OURS) >= 20
    assert len(RIGHT) >= 20
    assert len(RIGHT_STEPS) >= 30
    assert len(WRONG) >= 75
    assert {kernel.number for kernel in WRONG} >= GUARDED | set(OTHERWISE)
