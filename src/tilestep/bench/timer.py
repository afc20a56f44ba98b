"""How long a replay takes on the card: between two events, from a cold L2, without a gap of the host's."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from tilestep.bench.messages import MOST_REPLAYS
from tilestep.bench.rounds import Reading
from tilestep.targets.gpu.driver import Driver

L2_TIMES = 4  # what is written to empty L2, in units of its size; long enough to queue a graph behind it
_WORD = 4
_MOST_TRIES = 3  # a host that is held up so often is held up most of the time
_MOST_FLUSHES = 16


class Timer:
    """Times replays. A replay must be in the queue before the flush in front of it has ended.

    Else the card waits for the host between the two events, and the figure is the host's. A flush is long
    enough where L2 is large; on another card, or a slow host, it is repeated until it is.
    """

    def __init__(self, driver: Driver, l2_bytes: int) -> None:
        self._driver = driver
        self._words = max(1, L2_TIMES * l2_bytes // _WORD)
        self._flushes = 1
        self.buffer = driver.call("cuMemAlloc", self._words * _WORD)
        timing = int(driver.api.CUevent_flags.CU_EVENT_DEFAULT)
        self._events = [
            (driver.call("cuEventCreate", timing), driver.call("cuEventCreate", timing))
            for _ in range(MOST_REPLAYS)
        ]

    def time(self, stream: Any, replay: Callable[[], None], times: int) -> Reading:
        """The median of so many replays. All are made again, behind a longer flush, if one was queued late.

        That a replay was late depends on the host alone, so making it again prefers no time to another.
        """
        for _ in range(_MOST_TRIES):
            reading = self._tried(stream, replay, times)
            if not reading.late:
                break
            self._flushes = min(2 * self._flushes, _MOST_FLUSHES)
        return reading

    def _tried(self, stream: Any, replay: Callable[[], None], times: int) -> Reading:
        call = self._driver.call
        query, not_ready = self._driver.api.cuEventQuery, self._driver.api.CUresult.CUDA_ERROR_NOT_READY
        events = self._events[:times]
        late = 0
        for start, stop in events:
            for _ in range(self._flushes):
                call("cuMemsetD32Async", self.buffer, 0, self._words, stream)
            call("cuEventRecord", start, stream)
            replay()
            call("cuEventRecord", stop, stream)
            late += query(start)[0] != not_ready
        call("cuStreamSynchronize", stream)
        return Reading(statistics.median(float(call("cuEventElapsedTime", *pair)) for pair in events), late)
