"""The processes that own a context on the card: one that stays warm for runs, and those of a race."""

from __future__ import annotations

import threading
from contextlib import ExitStack, closing

from tilestep.targets.gpu.card import Facts
from tilestep.targets.gpu.client import WorkerClient
from tilestep.targets.gpu.racers import Racers


class Workers:
    """A target's workers. The card does one thing at a time: whoever asks a worker holds `lock`."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._warm: WorkerClient | None = None
        self._racers = Racers()

    def warm(self) -> WorkerClient:
        """The worker of the runs; a new one where the last has ended. Raises NoCardError."""
        with self.lock:
            if self._warm is not None and not self._warm.alive:
                self._close_warm()
            if self._warm is None:
                self._warm = WorkerClient()  # known while it starts, so that `close` can end it
            try:
                self._warm.greet()
            except BaseException:
                self._close_warm()
                raise
            return self._warm

    def facts(self) -> Facts:
        """The card's. Raises NoCardError."""
        with self.lock:
            return self.warm().greet()

    def race_soon(self) -> None:
        """Starts those of a race, where the card takes more than one process. Raises NoCardError."""
        if not self.facts().exclusive:
            self._racers.start()

    def sides(self, stack: ExitStack) -> dict[str, WorkerClient]:
        """A new worker for each side of a race, closed by the stack; one for both on a card that takes one
        process at a time. Raises NoCardError."""
        with self.lock:
            exclusive = self.facts().exclusive
            if exclusive:
                self.close()
        clients = self._racers.take(1 if exclusive else 2)
        for client in clients:
            stack.enter_context(closing(client))
        return {"baseline": clients[0], "user": clients[-1]}

    def close(self) -> None:
        """Ends all but those that a race has taken."""
        self._racers.close()
        if (starting := self._warm) is not None and not starting.greeted:
            starting.kill()  # another thread may hold the lock until it is there, a minute long
        with self.lock:
            self._close_warm()

    def _close_warm(self) -> None:
        if self._warm is not None:
            self._warm.close()
            self._warm = None
