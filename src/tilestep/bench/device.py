"""The card as the bench uses it: its primary context, one stream, graphs captured on it, and their times.

PyTorch works in the primary context too, so our kernels and the peers share memory, stream and clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilestep.bench.messages import MOST_REPLAYS
from tilestep.targets.gpu.driver import Driver

_L2_TIMES = 2  # what is written to empty L2, in units of its size
_WORD = 4


class Graph:
    """Captured work that is replayed as a whole."""

    def __init__(self, driver: Driver, stream: Any, executable: Any) -> None:
        self._driver = driver
        self._stream = stream
        self._executable = executable

    def replay(self) -> None:
        self._driver.call("cuGraphLaunch", self._executable, self._stream)


class Device:
    """The first card that is visible, and the one stream that all work is queued on."""

    def __init__(self) -> None:
        self.driver = Driver()
        call, api = self.driver.call, self.driver.api
        call("cuInit", 0)
        card = call("cuDeviceGet", 0)
        call("cuCtxSetCurrent", call("cuDevicePrimaryCtxRetain", card))
        self.stream: Any = None
        attribute = api.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
        l2_bytes = call("cuDeviceGetAttribute", attribute, card)
        self._flush_words = max(1, _L2_TIMES * l2_bytes // _WORD)
        self._flush = call("cuMemAlloc", self._flush_words * _WORD)
        timing = int(api.CUevent_flags.CU_EVENT_DEFAULT)
        self._events = [
            (call("cuEventCreate", timing), call("cuEventCreate", timing)) for _ in range(MOST_REPLAYS)
        ]

    def use_stream(self, handle: int | None) -> None:
        """Works on another library's stream from now on, or on one of our own."""
        if handle is None:
            flags = int(self.driver.api.CUstream_flags.CU_STREAM_NON_BLOCKING)
            self.stream = self.driver.call("cuStreamCreate", flags)
        else:
            self.stream = self.driver.api.CUstream(handle)

    def synchronise(self) -> None:
        """Waits for all of the context. Raises DriverError if something in it has failed."""
        self.driver.call("cuCtxSynchronize")

    def capture(self, work: Callable[[], None]) -> Graph:
        """What `work` queues on the stream, as a graph; nothing of it runs. Raises DriverError."""
        api = self.driver.api
        mode = api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        self.driver.call("cuStreamBeginCapture", self.stream, mode)
        try:
            work()
        finally:
            graph = self.driver.call("cuStreamEndCapture", self.stream)
        return Graph(self.driver, self.stream, self.driver.call("cuGraphInstantiate", graph, 0))

    def time(self, replay: Callable[[], None], times: int) -> float:
        """The mean milliseconds of a replay, each between two events and with nothing of it in L2 before."""
        call, stream = self.driver.call, self.stream
        events = self._events[:times]
        for start, stop in events:
            call("cuMemsetD32Async", self._flush, 0, self._flush_words, stream)
            call("cuEventRecord", start, stream)
            replay()
            call("cuEventRecord", stop, stream)
        call("cuStreamSynchronize", stream)
        return sum(float(call("cuEventElapsedTime", *pair)) for pair in events) / len(events)

    def next_to_nothing(self) -> Graph:
        """A graph that sets four bytes: its time is what timing itself costs."""
        return self.capture(lambda: self.driver.call("cuMemsetD32Async", self._flush, 0, 1, self.stream))
