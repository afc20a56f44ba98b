"""What is run, in which order, and how many runs at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from tilestep import cases, contract
from tilestep.cases import Case
from tilestep.contract import Step
from tilestep.emulator.sandbox import stop_everything
from tilestep.program import Buffer, Job

CHECKED_UP_TO = max(contract.LENGTHS)  # beyond it every access is not worth its hook
SMALL_TIMEOUT = 20.0  # seconds of wall clock for one run at a small length
PROFILE_TIMEOUT = 120.0

Result = TypeVar("Result")


@dataclass(frozen=True)
class Progress:
    """How far the judge is: `done` of `total` pieces of work, and what it is doing."""

    done: int
    total: int
    doing: str


def cores() -> int:
    """Cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def checked_cases(step: Step, lengths: Sequence[int]) -> list[tuple[int, str]]:
    """One family for each length that is run under the checkers, smallest first.

    The family depends on the length alone, so that each family meets the checkers at some length: branches
    that depend on the data are taken too.
    """
    chosen = []
    for length in sorted({n for n in lengths if n <= CHECKED_UP_TO}):
        families = list(cases.families(step.name, length))
        chosen.append((length, families[length % len(families)]))
    return chosen


def orders(seed: int) -> tuple[str, ...]:
    """The orders in which a block's threads run under the checkers."""
    return ("forward", "reverse", f"random {seed % 2**31}")


def job(step: Step, case: Case) -> Job:
    """The buffers and sizes that the step's seam is handed for a case, in the order of its parameters."""
    buffers = []
    for parameter in step.seam.pointers:
        if parameter.role == "out":
            width = contract.TENSOR[parameter.tensor].width
            buffers.append(Buffer(parameter.name, case.length, width, "out"))
            continue
        data = case.inputs[parameter.tensor]
        tensor = contract.TENSOR.get(parameter.tensor)
        regions = tuple((r.name, r.begin, r.end) for r in tensor.regions) if tensor else ()
        buffers.append(Buffer(parameter.name, data.shape[0], data.shape[1], parameter.role, data, regions))
    sizes = (case.length,) * sum(p.role == "size" for p in step.seam.parameters)
    return Job(
        buffers=tuple(buffers),
        sizes=sizes,
        timeout=SMALL_TIMEOUT if case.length <= CHECKED_UP_TO else PROFILE_TIMEOUT,
        scratch_bytes=step.scratch_bytes_per_token * case.length,
    )


def budget(length: int) -> int:
    """Memory accesses after which a checked run counts as endless: ten times what a tiled kernel needs."""
    return 50_000_000 + 2_000_000 * length


def checked_job(step: Step, case: Case, order: str) -> Job:
    return replace(job(step, case), mode="check", order=order, budget=budget(case.length))


def fast_job(step: Step, case: Case, threads: int = 1) -> Job:
    return replace(job(step, case), mode="fast", threads=threads, budget=0)


def traffic_job(step: Step, case: Case, threads: int) -> Job:
    return replace(job(step, case), mode="traffic", threads=threads, budget=0)


@contextmanager
def running(tasks: Sequence[Callable[[], Result]], workers: int) -> Iterator[Iterator[Result]]:
    """Starts the tasks, `workers` at a time, and yields their results in the order of the tasks.

    Leaving the block early, by an interrupt too, cancels what has not begun and kills what runs.
    """
    threads: set[int] = set()

    def noted(task: Callable[[], Result]) -> Result:
        threads.add(threading.get_ident())
        return task()

    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [pool.submit(noted, task) for task in tasks]
        try:
            yield (future.result() for future in futures)
        finally:
            for future in futures:
                future.cancel()
            while wait(futures, timeout=0.05).not_done:
                stop_everything(frozenset(threads))  # repeated: a task may be about to start its run
