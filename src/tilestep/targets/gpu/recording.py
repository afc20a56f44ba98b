"""A seam's plan, recorded twice: the launches may depend on the sizes of the call, and on nothing else."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tilestep.emulator.job import run_job
from tilestep.program import Job, Launch, LaunchPlan, Run, Transfer

_MOST_KEPT = 256


def record(executable: Path, file: str, job: Job, confine: Path) -> Run:
    """Runs the seam twice at different addresses. The Run is refused where the plans differ."""
    asked = replace(job, mode="record", buffers=tuple(replace(buffer, data=None) for buffer in job.buffers))
    with ThreadPoolExecutor(max_workers=2) as pool:
        first, second = pool.map(lambda _: run_job(executable, file, asked, confine), range(2))
    if first.ended != "finished":
        return first
    if second.ended != "finished" or (difference := _difference(first.plan, second.plan)) is None:
        return second if second.ended != "finished" else first
    says = f"the launches depend on something other than the sizes of the call: {difference}"
    return replace(first, ended="refused", says=says)


def _difference(one: LaunchPlan, other: LaunchPlan) -> str | None:
    """What two recordings of one call differ in; None if they are equal."""
    if one.scratch_bytes != other.scratch_bytes:
        sizes = f"{list(one.scratch_bytes)} bytes in one recording, {list(other.scratch_bytes)} in another"
        return f"scratch of {sizes}"
    if len(one.items) != len(other.items):
        return f"{len(one.items)} launches and transfers in one recording, {len(other.items)} in another"
    for a, b in zip(one.items, other.items, strict=True):
        if a != b:
            return f"{_name(a)} differs from one recording to another"
    return None


def _name(item: Launch | Transfer) -> str:
    if isinstance(item, Launch):
        where = f" at line {item.line}" if item.line else ""
        return f"the launch of {item.kernel}{where}"
    return f"a transfer to {item.to.buffer}"


class Recordings:
    """Recordings by their key, each made once though several threads ask for it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[object, Future[Run]] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, key: object, make: Callable[[], Run]) -> Run:
        with self._guard:
            future = self._kept.get(key)
            ours = future is None
            if future is None:
                future = self._kept[key] = Future()
                while len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)
        if ours:
            try:
                future.set_result(make())
            except BaseException as error:
                with self._guard:
                    self._kept.pop(key, None)
                future.set_exception(error)
        return future.result()
