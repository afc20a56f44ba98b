"""Single keys from a terminal, which gets its settings back however the program ends."""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Iterator


class Keys:
    """The keys that a terminal sends, one at a time."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def read(self, seconds: float) -> str:
        """The next key, "" if none came in time. Raises EOFError if the terminal has gone."""
        ready, _, _ = select.select([self._handle], [], [], seconds)
        if not ready:
            return ""
        try:
            data = os.read(self._handle, 1)
        except OSError:  # the other end of the terminal was closed
            raise EOFError from None
        if not data:
            raise EOFError
        return data.decode("ascii", "replace").lower()

    def forget(self) -> None:
        """Drops the keys that were pressed while nobody read them."""
        import termios

        termios.tcflush(self._handle, termios.TCIFLUSH)


@contextlib.contextmanager
def reading(handle: int) -> Iterator[Keys]:
    """Keys without waiting for Enter and without their echo. Ctrl-C still interrupts."""
    import termios  # not on Windows, where the rest of this package may still be imported
    import tty

    before = termios.tcgetattr(handle)
    try:
        tty.setcbreak(handle)
        yield Keys(handle)
    finally:
        with contextlib.suppress(termios.error):  # the terminal has gone
            termios.tcsetattr(handle, termios.TCSADRAIN, before)
