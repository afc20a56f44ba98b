"""A file that a person names for tilestep to write: looked at before the work, written whole or not at all.

Nothing that somebody may want to keep is replaced: only what tilestep itself wrote there, and empty files.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

SOURCES = (".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".py")  # never written, even if new
LARGEST = 100_000_000  # bytes; nothing that tilestep writes comes near


class DestinationError(Exception):
    """A place that cannot be written, or must not be: one sentence, which names it."""


def check(
    place: str | Path, what: str, ours: Callable[[bytes], bool], judged: Iterable[str | Path] = ()
) -> Path:
    """The path of a place, as it was typed, that `what` can be written to. Raises DestinationError.

    `ours` tells whether a file's bytes are a `what` of ours, which may be replaced; `judged` are the files
    that are read. Links are followed: what they lead to is looked at.
    """
    if place in ("", "-"):
        raise DestinationError(f"{what} needs a file, and {place!r} names none")
    path = Path(place)
    try:
        kind = _kind(path)
        if kind is not None and stat.S_ISDIR(kind):
            raise DestinationError(f"{path} is a directory: name the file that {what} goes to")
        if kind is not None and not stat.S_ISREG(kind):
            raise DestinationError(f"{path} is not a regular file: {what} needs one")
        if any(_same(path, Path(file)) for file in judged):
            raise DestinationError(f"{path} is the file that is judged: name another one for {what}")
        if path.suffix.lower() in SOURCES or path.resolve().suffix.lower() in SOURCES:
            raise DestinationError(f"{path} has the name of a source file: name another one for {what}")
        if kind is not None and not _replaceable(path, ours):
            raise DestinationError(f"{path} was not written by tilestep: name another file for {what}")
        if kind is not None and not os.access(path, os.W_OK):
            raise DestinationError(f"{path} cannot be written: Permission denied")
        with tempfile.TemporaryFile(dir=path.resolve().parent):
            pass
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise DestinationError(_unwritable(path, error)) from None
    return path


def write(path: Path, data: bytes) -> None:
    """Writes a file that `check` has let pass, in one step; a link stays one. Raises DestinationError."""
    try:
        real = path.resolve()
        mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o644
        handle, name = tempfile.mkstemp(dir=real.parent, prefix=".tilestep-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).chmod(mode)
            Path(name).replace(real)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except (OSError, ValueError, RuntimeError) as error:
        raise DestinationError(_unwritable(path, error)) from None


def _kind(path: Path) -> int | None:
    """What a path leads to, None for nothing yet. Nothing is opened: a pipe would wait, a device may act."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _same(path: Path, other: Path) -> bool:
    """Also for two names of a file that is not there: it would be made before it is read."""
    try:
        return path.samefile(other)
    except OSError:
        return path.resolve() == other.resolve()


def _replaceable(path: Path, ours: Callable[[bytes], bool]) -> bool:
    size = path.stat().st_size
    return size == 0 or (size <= LARGEST and ours(path.read_bytes()))


def _unwritable(path: Path, error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{path} cannot be written: {reason}"
