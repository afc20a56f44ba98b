"""The kernels of tests/wrong and tests/right with their recorded verdicts, and how they are judged here.

A folder for each step (one for the two attention steps); the record beside a kernel names its step, and may
name the lengths that it is judged at, where the step's own are too many.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fake_driver.fixtures import fake_card, gpu_target, open_target, stand_ins  # noqa: F401

from tilestep.contract import STEP
from tilestep.judge import gathered, judge
from tilestep.judge.expect import Expectations
from tilestep.judge.verdict import Verdict
from tilestep.subjects import registered, subject

TESTS = Path(__file__).parents[1]

# One row; two tiles, the second ragged for every usual tile size; three tiles of 32 and one key more.
ATTENTION_LENGTHS = (1, 41, 97)
SEED = 6  # fixed, so that a recorded verdict is the same in every run


@dataclass(frozen=True)
class Kernel:
    """A kernel file and the record beside it."""

    file: Path
    record: dict[str, Any]

    @property
    def findings(self) -> set[tuple[str, int | None]]:
        """The recorded findings as (code, line)."""
        return {(finding["code"], finding["line"]) for finding in self.record.get("findings", [])}

    @property
    def step(self) -> str:
        return str(self.record["step"])

    @property
    def lengths(self) -> tuple[int, ...]:
        """What the kernel is judged at."""
        usual = ATTENTION_LENGTHS if STEP[self.step].kernels == "attention" else subject(self.step).lengths
        return tuple(self.record.get("lengths", usual))

    def __str__(self) -> str:
        return f"{self.file.parent.name}-{self.file.stem}"


@functools.cache
def kernels(folder: str) -> tuple[Kernel, ...]:
    """Every kernel of tests/FOLDER whose step can be judged, in the order of the names."""
    files = sorted(file for file in (TESTS / folder).glob("*/*.cu") if file.with_suffix(".json").is_file())
    every = (Kernel(file, json.loads(file.with_suffix(".json").read_text())) for file in files)
    return tuple(kernel for kernel in every if kernel.step in registered())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `wrong_kernel` or `right_kernel` runs once for each of them."""
    for folder in ("wrong", "right"):
        if f"{folder}_kernel" in metafunc.fixturenames:
            metafunc.parametrize(f"{folder}_kernel", kernels(folder), ids=str)


@pytest.fixture
def wrong_kernels() -> tuple[Kernel, ...]:
    return kernels("wrong")


@pytest.fixture
def right_kernels() -> tuple[Kernel, ...]:
    return kernels("right")


# The right answers depend on step and seed only: computed once a process, not once a kernel.
_expectations = functools.cache(Expectations)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Callable[[Kernel], Verdict]:
    """Judges a kernel at its lengths, without the profile length."""
    monkeypatch.setattr(gathered, "Expectations", _expectations)
    return lambda kernel: judge(kernel.file, kernel.step, seed=SEED, lengths=kernel.lengths, profile=False)
