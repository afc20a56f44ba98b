"""Calls of a plan: one that is watched launch by launch, and timed ones.

A timed call begins with fresh inputs, NaN in everything else and a cold L2. A kernel of ours then holds the
stream until all is queued, so that no gap of the host's lies between the two events.
"""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilestep.program import Launch
from tilestep.targets.gpu.driver import Driver, DriverError, first_failure, label_of
from tilestep.targets.gpu.memory import Block, Memory
from tilestep.targets.gpu.replay import Player, Step

HOLD_KERNEL = "tilestep_hold"
HOLD_SOURCE = """\
// Holds the stream for so many nanoseconds, while the host queues what is to be timed.
extern "C" __global__ void tilestep_hold(unsigned long long nanoseconds) {
  unsigned long long began, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(began));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - began < nanoseconds);
}
"""
_HOLD_NS = 60_000
_HOLD_NS_PER_ITEM = 8_000
_LONGEST_HOLD_NS = 20_000_000
_LARGEST_FACTOR = 64
_MOST_TRIES = 3  # a host that is held up so often is held up most of the time
_LEAST_FLUSH_BYTES = 64 * 1024**2

# What a launch is refused with; anything else has stopped a kernel that ran.
_REFUSALS = (
    "CUDA_ERROR_INVALID_VALUE",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
    "CUDA_ERROR_INVALID_CONFIGURATION",
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
    "CUDA_ERROR_NOT_SUPPORTED",
    "CUDA_ERROR_INVALID_HANDLE",
)


class CallFailedError(Exception):
    """A call that did not finish: the item's number where it is known, and the driver's name of the error."""

    def __init__(self, label: str, item: int | None) -> None:
        super().__init__(label)
        self.label = label
        self.item = item


@dataclass(frozen=True)
class Timing:
    """Milliseconds of one call: between the events, and by the host's clock.

    The host's runs from when it sees the first event passed until the whole device is idle: work that hides
    from the events shows there. `late`: it was not all queued when the first event passed, so a gap of the
    host's lies between the events.
    """

    ms: float
    wall_ms: float
    late: bool


def watched(
    driver: Driver, player: Player, memory: Memory, tell: Callable[[int], None]
) -> list[tuple[int, str]]:
    """Plays the plan, waiting after each item, and returns the items that were refused, with the reason.

    `tell` hears each item's number before it starts. Raises CallFailedError; the context is lost then.
    """
    memory.restore()
    player.restore()
    synchronise(driver)
    refused = []
    for index, step in enumerate(player.steps):
        tell(index)
        error = step.call(*step.arguments)[0]
        if int(error) != 0:
            label = label_of(error)
            if label not in _REFUSALS:
                raise CallFailedError(label, index)
            refused.append((index, label))
            continue
        synchronise(driver, index)
    return refused


def synchronise(driver: Driver, item: int | None = None) -> None:
    """Waits for the whole device. Raises CallFailedError for what has failed there."""
    try:
        driver.call("cuCtxSynchronize")
    except DriverError as error:
        raise CallFailedError(error.label, item) from None


class Clock:
    """Times calls on one stream."""

    def __init__(self, driver: Driver, stream: Any, hold_image: bytes, l2_bytes: int) -> None:
        self._driver = driver
        self._stream = stream
        self._module = driver.call("cuModuleLoadData", hold_image + b"\0")
        self._hold = driver.call("cuModuleGetFunction", self._module, HOLD_KERNEL.encode())
        self._hold_time = np.zeros(1, dtype=np.uint64)
        self._hold_arguments = np.array([self._hold_time.ctypes.data], dtype=np.uint64)
        self._hold_factor = 1
        self._events: list[Any] = []
        self._flush = Block(driver, stream, max(2 * l2_bytes, _LEAST_FLUSH_BYTES))

    def timed(self, player: Player, memory: Memory) -> Timing:
        """One call between two events. Raises CallFailedError.

        A late one is told, not made again: a submission sees no values twice, which it could answer from what
        it kept.
        """
        times, wall_ms, in_time = self._between_events(player, memory, [player.steps])
        return Timing(times[0], wall_ms, late=not in_time)

    def each(self, player: Player, memory: Memory) -> list[tuple[int, float]]:
        """(item, milliseconds) of every launch of one call, by events between all items.

        A call that was late is made again, from fresh inputs.
        """
        for _ in range(_MOST_TRIES):
            times, _, in_time = self._between_events(player, memory, [(step,) for step in player.steps])
            if in_time:
                break
        return [
            (index, ms)
            for index, (step, ms) in enumerate(zip(player.steps, times, strict=True))
            if isinstance(step.item, Launch)
        ]

    def close(self) -> None:
        for event in self._events:
            self._driver.call("cuEventDestroy", event)
        self._flush.free()
        self._driver.call("cuModuleUnload", self._module)

    def _between_events(
        self, player: Player, memory: Memory, parts: Sequence[Sequence[Step]]
    ) -> tuple[list[float], float, bool]:
        """The time of each part of the plan, all queued at once, and of the whole by the host's clock; and
        whether all was queued before the hold was over. Where not, the next call is held for longer.
        """
        api, stream = self._driver.api, self._stream
        events = self._some_events(len(parts) + 1)
        self._prepare(player, memory)
        results = []
        with _no_pauses():
            results.append(self._hold_stream(len(player.steps) + len(parts)))
            results.append(api.cuEventRecord(events[0], stream)[0])
            for part, event in zip(parts, events[1:], strict=True):
                results += [step.call(*step.arguments)[0] for step in part]
                results.append(api.cuEventRecord(event, stream)[0])
            began, in_time = self._see_pass(events[0])
            synchronise(self._driver)
            ended = time.perf_counter_ns()
        if failure := first_failure(results):
            raise CallFailedError(failure[1], None)
        times = [
            float(self._driver.call("cuEventElapsedTime", begin, end))
            for begin, end in itertools.pairwise(events)
        ]
        if not in_time:
            self._hold_factor = min(2 * self._hold_factor, _LARGEST_FACTOR)
        return times, (ended - began) / 1e6, in_time

    def _see_pass(self, event: Any) -> tuple[int, bool]:
        """Waits for an event. The host's time then, in nanoseconds, and whether it had to wait."""
        query, not_ready = self._driver.api.cuEventQuery, self._driver.api.CUresult.CUDA_ERROR_NOT_READY
        waited = False
        while query(event)[0] == not_ready:
            waited = True
        return time.perf_counter_ns(), waited

    def _prepare(self, player: Player, memory: Memory) -> None:
        """Fresh inputs, NaN elsewhere, nothing of them left in the L2 cache, and an idle device."""
        memory.restore()
        player.restore()
        self._driver.tried("cuCtxResetPersistingL2Cache")  # a card without that has nothing to reset
        self._flush.fill()
        synchronise(self._driver)

    def _hold_stream(self, items: int) -> Any:
        wanted = self._hold_factor * (_HOLD_NS + _HOLD_NS_PER_ITEM * items)
        self._hold_time[0] = min(wanted, _LONGEST_HOLD_NS)
        api = self._driver.api
        return api.cuLaunchKernel(
            self._hold, 1, 1, 1, 1, 1, 1, 0, self._stream, int(self._hold_arguments.ctypes.data), 0
        )[0]

    def _some_events(self, count: int) -> list[Any]:
        while len(self._events) < count:
            self._events.append(self._driver.call("cuEventCreate", 0))
        return self._events[:count]


@contextmanager
def _no_pauses() -> Iterator[None]:
    """Without Python's collector, which may take milliseconds."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
