"""The workers of a race: none has run anything, and they are started before the race begins."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from tilestep.targets.gpu.client import WorkerClient

_MOST = 2  # one for each side


class Racers:
    """Starts workers, which take a second to be ready, and hands each of them out once."""

    def __init__(self) -> None:
        self._started: list[WorkerClient] = []
        self._guard = threading.Lock()

    def start(self, count: int = _MOST) -> None:
        """Has `count` of them ready, or on their way; waits for none."""
        with self._guard:
            self._start(count)

    def take(self, count: int = _MOST) -> list[WorkerClient]:
        """New workers that have the card, the caller's to close. Raises NoCardError."""
        with self._guard:  # from here to the slice: another taker must not find these
            self._start(count)
            taken, self._started = self._started[:count], self._started[count:]
        try:
            for client in taken:
                client.greet()
        except BaseException:
            _close(taken)
            raise
        return taken

    def close(self) -> None:
        """Ends those that nobody took, also while they are starting."""
        with self._guard:
            left, self._started = self._started, []
        _close(left)

    def _start(self, count: int) -> None:
        """The caller holds the guard."""
        ended = [client for client in self._started if not client.alive]
        self._started = [client for client in self._started if client not in ended]
        _close(ended)
        while len(self._started) < count:
            self._started.append(WorkerClient())


def _close(clients: Iterable[WorkerClient]) -> None:
    for client in clients:
        client.close()
