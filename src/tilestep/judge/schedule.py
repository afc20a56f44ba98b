"""What is run, in which order, and how many runs at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from tilestep import contract
from tilestep.contract import Parameter, Step
from tilestep.emulator.sandbox import stop_everything
from tilestep.program import Buffer, Job
from tilestep.subjects import Case, Subject, subject
from tilestep.targets.protocol import Target

SMALL_TIMEOUT = 20.0  # seconds of wall clock for one run at a small length
PROFILE_TIMEOUT = 120.0
_BESIDE_A_CARD = 4  # threads

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


def workers(target: Target) -> int:
    """Runs at a time at the small lengths. Those of a card take no time beside what is computed for them in
    this interpreter, where more threads than a few only wait for one another."""
    return cores() if target.checks else min(cores(), _BESIDE_A_CARD)


def fed_cases(asked: Subject, lengths: Sequence[int]) -> list[tuple[int, str]]:
    """(length, family) in judging order: the smallest length first."""
    return [(length, family) for length in sorted(set(lengths)) for family in asked.families(length)]


def drawn_length(asked: Subject, seed: int) -> int:
    """A length beside those that everybody knows, drawn by the seed: a kernel must be right at any."""
    others = [length for length in range(2, max(asked.lengths)) if length not in asked.lengths]
    return others[seed % len(others)]


def drawn_beyond(asked: Subject, seed: int) -> int | None:
    """A length between the small ones and the profile length, drawn by the seed; None where there is none."""
    between = range(max(asked.lengths) + 1, asked.profile or 0)
    return between[seed % len(between)] if between else None


def long_cases(asked: Subject, profile: int, beyond: int | None, seed: int) -> list[tuple[int, str]]:
    """(length, family) of what is compared in part: families with hazards at the profile length, and one that
    the seed draws at a length between."""
    cases = [(profile, family) for family in asked.families(profile)[1:]]
    if beyond is not None:
        families = asked.families(beyond)
        cases.insert(0, (beyond, families[seed % len(families)]))
    return cases


def checked_cases(asked: Subject, lengths: Sequence[int]) -> list[tuple[int, str]]:
    """One family for each length that is run under the checkers, smallest first.

    The family depends on the length alone, so that each family meets the checkers at some length: branches
    that depend on the data are taken too. A length that a person asks for is checked up to the longest one
    that the step checks: beyond it every access is not worth its hook.
    """
    chosen = []
    for length in sorted(set(lengths)):
        own = length not in asked.lengths and length <= max(asked.checked_lengths)
        if own or length in asked.checked_lengths:
            families = list(asked.families(length))
            chosen.append((length, families[length % len(families)]))
    return chosen


def orders(seed: int) -> tuple[str, ...]:
    """The orders in which a block's threads run under the checkers."""
    return ("forward", "reverse", f"random {seed % 2**31}")


def job(step: Step, case: Case) -> Job:
    """The buffers and sizes that the step's seam is handed for a case, in the order of its parameters."""
    lengths = subject(step.name).lengths if step.name in contract.STEP else contract.LENGTHS
    small = case.length <= max(lengths)
    return Job(
        buffers=tuple(_buffer(parameter, case) for parameter in step.seam.pointers),
        sizes=tuple(case.sizes[parameter.name] for parameter in step.seam.sizes),
        timeout=SMALL_TIMEOUT if small else PROFILE_TIMEOUT,
        scratch_bytes=step.scratch_bytes_per_token * case.length,
    )


def _buffer(parameter: Parameter, case: Case) -> Buffer:
    tensor = contract.TENSOR.get(parameter.tensor)
    regions = tuple((r.name, r.begin, r.end) for r in tensor.regions) if tensor else ()
    if parameter.role == "out":
        width = tensor.width if tensor and tensor.width else case.length
        return Buffer(parameter.name, len(case.judged_rows), width, "out")
    data = case.inputs[parameter.fed]
    return Buffer(parameter.name, data.shape[0], data.shape[1], parameter.role, data, regions)


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
