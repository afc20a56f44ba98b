"""Watches one file by its content: no file events, which network and shared file systems do not deliver."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

PAUSE = 0.1  # seconds between two looks
SETTLE = 1.0  # an editor that is saving may leave no file, or an empty one, for less than this

MISSING = "missing"
UNREADABLE = "unreadable: "


class Watched:
    """A file that somebody may be writing right now."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._clock = clock
        self._seen = ""
        self._since = 0.0  # when `_seen` was seen first
        self._next_look = 0.0

    def look(self) -> str | None:
        """The hash of the file's content once that has stopped changing; None while it has not.

        MISSING for no file, UNREADABLE and the reason for one that cannot be read. A content counts when two
        looks, PAUSE apart or more, have found it; no file, or an empty one, only after SETTLE seconds.
        """
        now = self._clock()
        if now < self._next_look:
            return None
        content, empty = self._content()
        done = self._clock()
        # A slow file system is not asked more often than it can answer.
        self._next_look = done + max(PAUSE, 4 * (done - now))
        if content != self._seen:
            self._seen, self._since = content, now
            return None
        return content if now - self._since >= (SETTLE if empty else PAUSE) else None

    def _content(self) -> tuple[str, bool]:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return MISSING, True
        except OSError as error:
            return UNREADABLE + (error.strerror or str(error)), True
        return hashlib.sha256(data).hexdigest(), not data.strip()


def file_hash(path: Path) -> str:
    """The hash of a file's content as the judge's verdict states it; "" for one that cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
