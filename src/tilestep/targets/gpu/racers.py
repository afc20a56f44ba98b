"""The workers of a race: none has run anything, and they are started before the race begins."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from tilestep.targets.gpu.client import WorkerClient

_MOST = 2  # one for each side


class Racers:
    """Starts workers in the background, which takes a second, and hands each of them out once."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=_MOST)
        self._started: list[Future[WorkerClient]] = []
        self._guard = threading.Lock()

    def start(self, count: int = _MOST) -> None:
        """Has `count` of them ready, or on their way."""
        with self._guard:
            self._start(count)

    def take(self, count: int = _MOST) -> list[WorkerClient]:
        """New workers, the caller's to close. Raises NoCardError."""
        with self._guard:
            self._start(count)
            taken, self._started = self._started[:count], self._started[count:]
        try:
            return [started.result() for started in taken]
        except BaseException:
            _close(taken)
            raise

    def close(self) -> None:
        """Ends those that nobody took."""
        with self._guard:
            left, self._started = self._started, []
        _close(left)

    def _start(self, count: int) -> None:
        self._started = [started for started in self._started if _may_serve(started)]
        while len(self._started) < count:
            self._started.append(self._pool.submit(WorkerClient))


def _may_serve(started: Future[WorkerClient]) -> bool:
    return not started.done() or (started.exception() is None and started.result().alive)


def _close(workers: list[Future[WorkerClient]]) -> None:
    for started in workers:
        started.add_done_callback(_close_one)  # at once, or when one that is on its way has arrived


def _close_one(started: Future[WorkerClient]) -> None:
    if not started.cancelled() and started.exception() is None:
        started.result().close()
