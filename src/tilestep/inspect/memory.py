"""What a shared array held, and when: a block's log of writes, played back.

An array is looked at when it is whole: at each barrier that its block passed, just before a line begins to
write it anew (a serial loop has no barrier), and when the block ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilestep.program import SharedArray, SharedEvent, WatchedBlock

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

_FLOAT = 4
_MOST_MOMENTS = 400  # of one array; a kernel that rewrites it more often is understood from these


@dataclass(frozen=True)
class Moment:
    """An array's float32 values [n] at one moment; `written` marks those that the block had written.

    `kind` is barrier, overwrite or end; `line` is the barrier's, or that of the write that came next.
    """

    values: Floats
    written: Bools
    kind: str
    line: int | None
    epoch: int

    @property
    def says(self) -> str:
        """When it was, in words."""
        line = f" in line {self.line}" if self.line else ""
        if self.kind == "barrier":
            return f"at the barrier{line}"
        if self.kind == "overwrite":
            return f"before line {self.line} writes it anew" if self.line else "before it is written anew"
        return "when the block ended"


def moments(block: WatchedBlock, array: SharedArray) -> list[Moment]:
    """The moments of one of the block's arrays, in order; none if the block never wrote it."""
    return list(_play(block.events, array.begin, array.end))


def _play(events: Iterable[SharedEvent], begin: int, end: int) -> Iterator[Moment]:
    count = (end - begin) // _FLOAT
    memory = np.full(count * _FLOAT, 0xFF, dtype=np.uint8)
    written = np.zeros(count, dtype=bool)
    fresh = np.zeros(count, dtype=bool)  # written since the last moment
    made = 0
    epoch = 1

    def moment(kind: str, line: int | None) -> Moment:
        fresh[:] = False
        return Moment(memory.view(np.float32).copy(), written.copy(), kind, line, epoch)

    for event in events:
        epoch = event.epoch
        if event.kind == "barrier":
            if fresh.any() and made < _MOST_MOMENTS:
                made += 1
                yield moment("barrier", event.line)
            continue
        low, high = max(event.offset, begin), min(event.offset + len(event.data), end)
        if low >= high:
            continue
        elements = slice((low - begin) // _FLOAT, -((begin - high) // _FLOAT))
        # One element that is written over and over is a sum in progress, not an array that is whole.
        if fresh[elements].any() and fresh.sum() > 1 and made < _MOST_MOMENTS:
            made += 1
            yield moment("overwrite", event.line)
        data = np.frombuffer(event.data, dtype=np.uint8)
        memory[low - begin : high - begin] = data[low - event.offset : high - event.offset]
        written[elements] = True
        fresh[elements] = True
    if fresh.any():
        yield moment("end", None)
