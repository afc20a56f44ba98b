"""What a watching run leaves (runtime/watch.h): the log of shared memory, and the work of each launch.

Like all of a worker's files it is a stranger's: lengths are checked before anything is cut out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tilestep.emulator.symbolise import Place
from tilestep.emulator.worker_files import BadFileError, Event, read_whole, text, triple, whole
from tilestep.program import SharedArray, SharedEvent, WatchedBlock, Work

LOG = "watch.bin"
_MOST_BYTES = 64 * 1024 * 1024
_ENTRY = struct.Struct("<IIIIq")  # WatchEntry: kind, offset, bytes, epoch, place
_BLOCK, _WRITE, _BARRIER = 0, 1, 2
_SEGMENT = 256 * 1024  # no offset lies beyond


@dataclass(frozen=True)
class Entry:
    """One entry of the log, its place in the code still a counter."""

    kind: str  # write, barrier
    epoch: int
    counter: int
    offset: int = 0
    data: bytes = field(default=b"", repr=False)


def read_log(folder: Path) -> list[list[Entry]]:
    """The entries of each kept block, in order; nothing where there is no log. Raises BadFileError."""
    try:
        data = read_whole(folder / LOG, _MOST_BYTES)
    except BadFileError:
        return []
    blocks: list[list[Entry]] = []
    at = 0
    while at + _ENTRY.size <= len(data):
        kind, offset, size, epoch, place = _ENTRY.unpack_from(data, at)
        at += _ENTRY.size
        if kind == _BLOCK:
            blocks.append([])
        elif not blocks or kind not in (_WRITE, _BARRIER):
            raise BadFileError(f"{LOG} has an entry that is none")
        elif kind == _BARRIER:
            blocks[-1].append(Entry("barrier", epoch, place))
        else:
            if at + size > len(data) or offset + size > _SEGMENT:
                raise BadFileError(f"{LOG} ends within an entry")
            blocks[-1].append(Entry("write", epoch, place, offset, data[at : at + size]))
            at += size
    return blocks


def counters(log: Iterable[Iterable[Entry]]) -> set[int]:
    """Every place in the code that a log names."""
    return {entry.counter for block in log for entry in block if entry.counter}


def watched_blocks(
    events: Sequence[Event], log: Sequence[Sequence[Entry]], places: Mapping[int, Place]
) -> tuple[WatchedBlock, ...]:
    """The kept blocks, in the order in which they ended."""
    arrays = [event for event in events if event["event"] == "watched-array"]
    found = []
    heads = [event for event in events if event["event"] == "watched-block"]
    for number, (head, entries) in enumerate(zip(heads, log, strict=False)):
        own = [event for event in arrays if whole(event, "of", -1) == number]
        found.append(
            WatchedBlock(
                launch=whole(head, "launch"),
                kernel=text(head, "kernel"),
                line=whole(head, "line") or None,
                block=triple(head, "block") or (0, 0, 0),
                arrays=tuple(_array(event) for event in own),
                events=tuple(
                    SharedEvent(e.kind, e.epoch, _line(places, e.counter), e.offset, e.data) for e in entries
                ),
            )
        )
    return tuple(found)


def work(events: Sequence[Event]) -> tuple[Work, ...]:
    """The work of each launch, in the plan's order."""
    names = ("launch", "blocks", "threads", "active", "accesses", "busiest", "longest", "read", "written")
    return tuple(
        Work(*(whole(event, name) for name in (*names, "static_shared")))
        for event in events
        if event["event"] == "work"
    )


def _array(event: Event) -> SharedArray:
    return SharedArray(
        text(event, "array"), whole(event, "begin"), whole(event, "end"), whole(event, "row_bytes")
    )


def _line(places: Mapping[int, Place], counter: int) -> int | None:
    place = places.get(counter)
    return place.line if place else None
