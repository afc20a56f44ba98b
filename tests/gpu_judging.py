"""Judges kernels on a GPU in processes of their own: comparing and naming take longer than the card does."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import tilestep.blas  # noqa: F401  (the processes share the cores already)
from tilestep.judge import gathered, judge, schedule, trial
from tilestep.judge.expect import Expectations
from tilestep.judge.trusted import TrustedKernels
from tilestep.judge.verdict import Verdict
from tilestep.targets.gpu import GpuTarget

MOST = 8  # processes; each has a context on the card


@dataclass(frozen=True)
class Wanted:
    """A kernel to judge without the profile length."""

    file: Path
    step: str
    lengths: tuple[int, ...]
    seed: int


def open_pool() -> ProcessPoolExecutor:
    """The processes; each starts when there is work for it, and keeps its GPU's worker."""
    return ProcessPoolExecutor(min(MOST, schedule.cores()), get_context("spawn"))


def judge_all(pool: ProcessPoolExecutor, kernels: Sequence[Wanted]) -> dict[Path, Verdict | Exception]:
    """The verdict of each file, or the exception that kept us from one."""
    return dict(zip((kernel.file for kernel in kernels), pool.map(_judge, kernels), strict=True))


def _judge(wanted: Wanted) -> Verdict | Exception:
    gathered.Expectations, trial.TrustedKernels = _expectations, _ours  # type: ignore[assignment,misc]
    how = {"seed": wanted.seed, "lengths": wanted.lengths, "profile": False, "target": _target()}
    try:
        return judge(wanted.file, wanted.step, **how)  # type: ignore[arg-type]
    except Exception as error:
        return RuntimeError(f"{type(error).__name__}: {error}")  # what it is made of may not travel


# One a process.
_target = functools.cache(GpuTarget)
_ours = functools.cache(TrustedKernels)
# What is right depends on step and seed only: computed once, not once a kernel.
_expectations = functools.cache(Expectations)
