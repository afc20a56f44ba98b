"""Compiled files, kept by content: made once, safe between processes, bounded in size."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs

_LIMIT_BYTES = 1024**3
_SETTLED_SECONDS = 600  # a younger file may be about to be used by another process
_LOCKS = 64


def default_folder() -> Path:
    """Where compiled files are kept: TILESTEP_CACHE, else the user's cache folder."""
    return Path(os.environ.get("TILESTEP_CACHE") or platformdirs.user_cache_dir("tilestep"))


def digest(*parts: str | bytes) -> str:
    """A name for content: parts are kept apart, so moving a byte between two of them changes it."""
    made = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        made.update(len(data).to_bytes(8, "little"))
        made.update(data)
    return made.hexdigest()[:32]


class Cache:
    """A folder of made files. Raises OSError where the folder cannot be written."""

    def __init__(self, folder: Path | None = None, limit_bytes: int = _LIMIT_BYTES) -> None:
        self.folder = (folder or default_folder()).absolute()
        self.limit_bytes = limit_bytes
        self.objects = self.folder / "objects"
        self.objects.mkdir(parents=True, exist_ok=True)

    def get(self, name: str) -> Path | None:
        """The file of that name, marked as used now."""
        path = self.objects / name
        try:
            os.utime(path)
        except OSError:
            return None
        return path

    def get_or_make(self, name: str, make: Callable[[Path], None]) -> Path:
        """The file of that name; `make` writes it, to the path that it is handed, if it is not there.

        Of several processes that want the same file one makes it and the others wait. `make` must not ask
        this cache for another file: make that one first.
        """
        if found := self.get(name):
            return found
        with self._lock(name):
            if found := self.get(name):
                return found
            handle, temporary = tempfile.mkstemp(prefix="making-", dir=self.objects)
            os.close(handle)
            try:
                make(Path(temporary))
                os.replace(temporary, self.objects / name)  # noqa: PTH105  (atomic, and says so)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        self._prune()
        return self.objects / name

    def get_or_write(self, name: str, text: Callable[[], str]) -> Path:
        """The file of that name; where it is not there it is made of the text."""

        def write(to: Path) -> None:
            to.write_text(text())

        return self.get_or_make(name, write)

    def size_bytes(self) -> int:
        """Bytes of all that is kept."""
        return sum(size for _, size, _ in self._entries())

    @contextlib.contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        import fcntl  # not on Windows, where the rest of this package may still be imported

        locks = self.folder / "locks"
        locks.mkdir(exist_ok=True)
        bucket = int(digest(name)[:8], 16) % _LOCKS
        with (locks / f"{bucket:02d}").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _prune(self) -> None:
        """Removes what was used longest ago until three quarters of the limit are left."""
        entries = self._entries()
        total = sum(size for _, size, _ in entries)
        if total <= self.limit_bytes:
            return
        settled = time.time() - _SETTLED_SECONDS
        for used, size, path in sorted(entries):
            if total <= self.limit_bytes * 3 // 4 or used > settled:
                return
            Path(path).unlink(missing_ok=True)
            total -= size

    def _entries(self) -> list[tuple[float, int, str]]:
        """(last use, bytes, path) of all that is kept."""
        entries = []
        with os.scandir(self.objects) as found:
            for entry in found:
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    entries.append((status.st_mtime, status.st_size, entry.path))
        return entries
