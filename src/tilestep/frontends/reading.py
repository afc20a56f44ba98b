"""A submission's bytes: read, checked and turned into text, or refused with one sentence."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from tilestep.program import SubmissionError

LARGEST_FILE = 1_000_000  # bytes
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class SourceFile:
    """`text` has line feeds only, whatever the file has; `name` is the path as the person wrote it."""

    name: str
    text: str
    sha256: str


def read_source(path: Path) -> SourceFile:
    """The text of a submission. Raises SubmissionError when there is none to judge."""
    name = display_name(path)
    data = _read_bytes(path, name)
    if len(data) > LARGEST_FILE:
        size = _size_of(path, len(data)) / 1e6
        raise SubmissionError(f"the file has {size:.1f} MB; a submission has at most 1 MB", file=name)
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise SubmissionError(
            "this is a binary file (it holds NUL bytes), not CUDA C++ source", file=name, line=line
        )
    try:
        text = data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (len(_BOM) if data.startswith(_BOM) else 0)
        line = data[:offset].count(b"\n") + 1
        raise SubmissionError(
            f"the file is not UTF-8 text: byte {data[offset]:#04x} at offset {offset}; save it as UTF-8",
            file=name,
            line=line,
        ) from None
    if not text.strip():
        raise SubmissionError("the file is empty", file=name)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return SourceFile(name, text, hashlib.sha256(data).hexdigest())


def display_name(path: Path) -> str:
    """The path as text that any terminal and any compiler takes."""
    name = os.fsencode(path).decode("utf-8", "replace")
    return "".join(character if character.isprintable() else "?" for character in name)


def _read_bytes(path: Path, name: str) -> bytes:
    """At most one byte more than the largest file, so that a 10 GB file costs nothing."""
    try:
        # Opening a named pipe would wait for its writer, so the kind of file comes first.
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise SubmissionError("this is a directory; name the .cu file in it", file=name)
        if not stat.S_ISREG(kind):
            raise SubmissionError("this is not a regular file", file=name)
        with path.open("rb") as stream:
            return stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise SubmissionError("no such file", file=name) from None
    except NotADirectoryError:
        raise SubmissionError("no such file: a part of the path is not a directory", file=name) from None
    except PermissionError:
        raise SubmissionError("no permission to read the file", file=name) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SubmissionError(f"the file cannot be read: {reason}", file=name) from None


def _size_of(path: Path, at_least: int) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return at_least
