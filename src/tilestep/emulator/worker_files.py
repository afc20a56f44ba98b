"""What passes between the judge and the worker, as files of a private folder: job, buffers, events.

What the worker leaves is read as a stranger's: a submission's native code could have written it. Sizes are
bounded, types checked, and text is stripped of what a terminal would obey.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tilestep.program import Buffer, Floats, Job

JOB = "job.txt"
RESULT = "result.jsonl"

_RESULT_BYTES = 32 * 1024 * 1024  # record.cpp refuses a plan that comes near it
_TEXT_LENGTH = 300
_FLOAT_BYTES = 4

Event = dict[str, Any]


class BadFileError(Exception):
    """A file of the worker is missing or not what it should be."""


def write_job(folder: Path, job: Job) -> None:
    """Writes the job and the inputs of its buffers."""
    lines = [
        f"mode {job.mode}",
        f"threads {job.threads}",
        f"order {job.order}",
        f"budget {job.budget}",
        f"timeout {job.timeout:g}",
        f"scratch {job.scratch_bytes}",
    ]
    for buffer in job.buffers:
        source = "-"
        if buffer.data is not None:
            source = f"in.{buffer.name}.bin"
            _as_stored(buffer).tofile(folder / source)
        lines.append(f"buffer {buffer.name} {buffer.role} {buffer.rows} {buffer.width} {source}")
        lines += [
            f"range {buffer.name} {name} {begin * _FLOAT_BYTES} {end * _FLOAT_BYTES}"
            for name, begin, end in buffer.regions
        ]
    lines += [f"size {size}" for size in job.sizes]
    if job.watch is not None:
        piece = job.watch
        lines.append(f"watch {piece.buffer} {piece.begin * _FLOAT_BYTES} {piece.end * _FLOAT_BYTES}")
    if job.sample:
        lines.append(f"sample {job.sample}")
    (folder / JOB).write_text("\n".join(lines) + "\n")


def _as_stored(buffer: Buffer) -> Floats:
    """The buffer's data, contiguous, of the size that it states. Raises ValueError otherwise."""
    data = np.ascontiguousarray(buffer.data, dtype=np.float32)
    if data.size != buffer.rows * buffer.width:
        raise ValueError(f"buffer {buffer.name} holds {data.size} values, not {buffer.rows} x {buffer.width}")
    return data


def read_events(folder: Path) -> list[Event]:
    """The worker's events in order, without lines that are none (a crash may cut the last one)."""
    try:
        text = read_whole(folder / RESULT, _RESULT_BYTES).decode("utf-8", "replace")
    except BadFileError:
        return []
    return list(_events(text))


def _events(text: str) -> Iterator[Event]:
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            yield {str(key): _clean(value) for key, value in event.items()}


def read_output(folder: Path, buffer: Buffer) -> Floats:
    """What a buffer [rows, width] held at the end. Raises BadFileError."""
    wanted = buffer.rows * buffer.width * _FLOAT_BYTES
    data = read_whole(folder / f"out.{buffer.name}.bin", wanted + 1)
    if len(data) != wanted:
        raise BadFileError(f"the output {buffer.name} has {len(data)} bytes, not {wanted}")
    return np.frombuffer(data, dtype=np.float32).reshape(buffer.rows, buffer.width)


def read_whole(path: Path, most: int) -> bytes:
    """At most `most` bytes of a plain file; never through a link, never from a pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise BadFileError(f"there is no {path.name}") from error
    with open(handle, "rb") as stream:  # noqa: PTH123  (a descriptor, not a path)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise BadFileError(f"{path.name} is no plain file")
        return stream.read(most)


def _clean(value: object) -> object:
    """JSON data without control characters and endless texts."""
    if isinstance(value, str):
        return "".join(c if c.isprintable() else " " for c in value[:_TEXT_LENGTH])
    if isinstance(value, list):
        return [_clean(item) for item in value[:8]]
    return value if isinstance(value, int | float | bool) or value is None else None


def whole(event: Event, key: str, default: int = 0) -> int:
    """An integer of an event."""
    value = event.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def text(event: Event, key: str) -> str:
    """A text of an event."""
    value = event.get(key)
    return value if isinstance(value, str) else ""


def triple(event: Event, key: str) -> tuple[int, int, int] | None:
    """Three integers of an event: a block, a thread, a grid."""
    value = event.get(key)
    if isinstance(value, list) and len(value) == 3 and all(type(item) is int for item in value):
        return value[0], value[1], value[2]
    return None
