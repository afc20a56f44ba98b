"""The bench's clock on a card that is made of two clocks: what was queued too late is made again."""

from __future__ import annotations

import enum
from types import SimpleNamespace
from typing import Any

from tilestep.bench.timer import _MOST_FLUSHES, L2_TIMES, Timer

KERNEL_US = 5.0
L2_BYTES = 1 << 20


class Code(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_NOT_READY = 600


class Card:
    """A driver whose memsets take `flush_us`, and whose host takes `host_us` to queue a graph."""

    def __init__(self, flush_us: float, host_us: float) -> None:
        self.flush_us = flush_us
        self.host_us = host_us
        self.host = self.busy_until = 0.0
        self.flushes = self.replays = 0
        self.api = SimpleNamespace(
            CUresult=Code, CUevent_flags=SimpleNamespace(CU_EVENT_DEFAULT=0), cuEventQuery=self.query
        )

    def work(self, us: float) -> None:
        self.busy_until = max(self.busy_until, self.host) + us

    def replay(self) -> None:
        self.replays += 1
        self.host += self.host_us
        self.work(KERNEL_US)

    def query(self, event: dict[str, float]) -> tuple[Code]:
        return (Code.CUDA_ERROR_NOT_READY if event["at"] > self.host else Code.CUDA_SUCCESS,)

    def call(self, name: str, *given: Any) -> Any:
        if name == "cuMemsetD32Async":
            assert given[2] == L2_TIMES * L2_BYTES // 4
            self.flushes += 1
            self.work(self.flush_us)
        elif name == "cuEventRecord":
            given[0]["at"] = max(self.busy_until, self.host)
        elif name == "cuStreamSynchronize":
            self.host = max(self.host, self.busy_until)
        elif name == "cuEventElapsedTime":
            return (given[1]["at"] - given[0]["at"]) / 1e3
        return {} if name == "cuEventCreate" else None


def timed(card: Card, times: int) -> tuple[float, int]:
    timer = Timer(card, L2_BYTES)  # type: ignore[arg-type]
    reading = timer.time(None, card.replay, times)
    return round(reading.ms * 1e3, 6), reading.late


def test_where_a_flush_is_long_enough_nothing_is_made_again() -> None:
    card = Card(flush_us=60.0, host_us=20.0)
    assert timed(card, 7) == (KERNEL_US, 0)
    assert (card.flushes, card.replays) == (7, 7)


def test_a_gap_of_the_host_is_in_no_figure() -> None:
    """The card is done with a flush before the graph is queued; two flushes are long enough."""
    card = Card(flush_us=30.0, host_us=50.0)
    assert timed(card, 1) == (KERNEL_US, 0)
    assert (card.flushes, card.replays) == (1 + 2, 2)


def test_a_flush_stays_as_long_as_it_had_to_be() -> None:
    card = Card(flush_us=30.0, host_us=50.0)
    timer = Timer(card, L2_BYTES)  # type: ignore[arg-type]
    for _ in range(3):
        timer.time(None, card.replay, 1)
    assert card.replays == 2 + 1 + 1


def test_a_host_that_is_always_late_is_told() -> None:
    card = Card(flush_us=1.0, host_us=1000.0)
    timer = Timer(card, L2_BYTES)  # type: ignore[arg-type]
    for _ in range(4):
        reading = timer.time(None, card.replay, 3)
    assert reading.late == 3
    assert reading.ms * 1e3 > KERNEL_US
    flushes = card.flushes
    timer.time(None, card.replay, 1)
    assert card.flushes - flushes == 3 * _MOST_FLUSHES
