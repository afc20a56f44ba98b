"""The card as the bench uses it: its primary context, one stream, graphs captured on it, and their times.

PyTorch works in the primary context too, so our kernels and the peers share memory, stream and clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilestep.bench.rounds import Reading
from tilestep.bench.timer import Timer
from tilestep.targets.gpu.clocks import Clocks
from tilestep.targets.gpu.driver import Driver

_PCI_TEXT = 32  # bytes for a PCI bus address


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
        address: bytes = call("cuDeviceGetPCIBusId", _PCI_TEXT, card)
        self._clocks = Clocks(address.split(b"\0")[0].decode())
        attribute = api.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
        self._timer = Timer(self.driver, call("cuDeviceGetAttribute", attribute, card))

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
        return self.instantiate(int(graph))

    def instantiate(self, graph: int) -> Graph:
        """A captured graph, by its handle, made ready to be replayed. Raises DriverError."""
        handle = self.driver.api.CUgraph(graph)
        return Graph(self.driver, self.stream, self.driver.call("cuGraphInstantiate", handle, 0))

    def clock(self) -> tuple[int, str]:
        """The multiprocessors' clock in MHz, 0 where nobody tells; and why it is lowered, "" if it is not."""
        clock, reasons = self._clocks.now()
        return clock, ", ".join(reasons)

    def time(self, replay: Callable[[], None], times: int) -> Reading:
        """The median of so many replays, each between two events, and with a cold L2."""
        return self._timer.time(self.stream, replay, times)

    def next_to_nothing(self) -> Graph:
        """A graph that sets four bytes: its time is what timing itself costs."""
        return self.capture(
            lambda: self.driver.call("cuMemsetD32Async", self._timer.buffer, 0, 1, self.stream)
        )
