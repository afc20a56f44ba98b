"""Arguments and exit codes: 0 passed, 1 judged, not passed, 2 usage or the file, 3 our fault, 4 no target.

One module a command; `group` turns errors into sentences, `options` holds what commands share."""

from __future__ import annotations

import signal
import sys
import threading
import time
from typing import Any

import tilestep.blas  # noqa: F401  (before anything that imports NumPy)
from tilestep.cli import bench, doctor, explain, judge, listing, path, replay, show  # noqa: F401  (each adds one)
from tilestep.cli.group import INTERRUPTED, cli
from tilestep.emulator.sandbox import shut_down

CLEAN_UP_SECONDS = 5.0

__all__ = ["cli", "main"]


def _interrupt(number: int, _: Any) -> None:
    """Ends what runs before Python waits for it, so that nothing is left behind."""
    shut_down()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def _let_threads_clean_up(seconds: float) -> None:
    """Waits until the threads that ran programs have deleted their folders.

    An interrupted `join` marks a thread as ended while it still works, so Python itself would not wait.
    """
    deadline = time.monotonic() + seconds
    while threading.active_count() > 1 and time.monotonic() < deadline:
        time.sleep(0.01)


def main() -> None:
    """The entry point of the `tilestep` command."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        cli(prog_name="tilestep")
    except KeyboardInterrupt:  # before the group has begun, or behind its end
        sys.exit(INTERRUPTED)
    finally:
        _let_threads_clean_up(CLEAN_UP_SECONDS)
