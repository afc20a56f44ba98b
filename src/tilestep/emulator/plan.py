"""From a worker's events to the plan that a seam asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from tilestep.emulator.worker_files import BadFileError, Event, read_whole, text, triple, whole
from tilestep.program import VARIABLE, Argument, Launch, LaunchPlan, Place, Transfer

POINTER_BYTES = 8


def read_plan(
    events: list[Event], folder: Path, names: Callable[[int], str], *, recorded: bool
) -> LaunchPlan:
    """The plan; with its items in order where it was `recorded` for a replay.

    `names` gives the linker's name of an address. Raises BadFileError where a recorded plan is not whole.
    """
    # What was refused was asked for too.
    asked = [
        e
        for e in events
        if e["event"] == "scratch" or (e["event"] == "refused" and text(e, "why") == "scratch")
    ]
    items = tuple(_Items(events, folder, names).read()) if recorded else ()
    launches = [item for item in items if isinstance(item, Launch)] if recorded else _launches(events)
    return LaunchPlan(
        launches=tuple(launches),
        memsets=sum(event["event"] == "memset" for event in events),
        scratch_bytes=tuple(whole(event, "bytes") for event in asked),
        variables={
            text(event, "name"): whole(event, "bytes") for event in events if event["event"] == "variable"
        },
        items=items,
    )


def _launches(events: Iterable[Event]) -> list[Launch]:
    return [_launch(event) for event in events if event["event"] == "launch"]


def _launch(
    event: Event,
    symbol: str = "",
    arguments: tuple[Argument, ...] = (),
    shared_limit: int | None = None,
) -> Launch:
    return Launch(
        text(event, "kernel"),
        triple(event, "grid") or (0, 0, 0),
        triple(event, "block") or (0, 0, 0),
        whole(event, "dynamic_shared"),
        whole(event, "line") or None,
        symbol,
        arguments,
        shared_limit,
    )


class _Items:
    """Reads the items in the order of their events: what belongs to a launch follows it."""

    def __init__(self, events: list[Event], folder: Path, names: Callable[[int], str]) -> None:
        self._events = events
        self._folder = folder
        self._names = names
        self._at = 0
        self._limits: dict[str, int] = {}  # of dynamic shared memory, set by the seam so far, by symbol

    def read(self) -> Iterable[Launch | Transfer]:
        while self._at < len(self._events):
            event = self._next()
            if event["event"] == "launch":
                yield self._read_launch(event)
            elif event["event"] == "memset":
                yield Transfer(self._place(event), whole(event, "bytes"), None, whole(event, "value"))
            elif event["event"] == "copy":
                yield self._read_copy(event)
            elif event["event"] == "shared-limit":
                self._limits[self._names(whole(event, "function"))] = whole(event, "bytes")

    def _read_launch(self, event: Event) -> Launch:
        entry = self._next("entry")
        counter = whole(entry, "pc")
        arguments = []
        while self._follows("argument"):
            arguments.append(self._read_argument(self._next()))
        symbol = self._names(counter)
        return _launch(event, symbol, tuple(arguments), self._limits.get(symbol))

    def _read_argument(self, event: Event) -> Argument:
        data = b""
        pointers = []
        while self._follows("piece", "pointer"):
            found = self._next()
            if found["event"] == "piece":
                data += _from_digits(text(found, "bytes"))
            else:
                pointers.append((whole(found, "at"), self._place(found)))
        if len(data) != whole(event, "bytes") or any(at + POINTER_BYTES > len(data) for at, _ in pointers):
            raise BadFileError("an argument of a launch is not whole")
        return Argument(data, tuple(pointers))

    def _read_copy(self, event: Event) -> Transfer:
        count, name = whole(event, "bytes"), text(event, "file")
        if not name:
            return Transfer(self._place(event), count, self._place(self._next("source")))
        data = read_whole(self._folder / Path(name).name, count + 1)
        if len(data) != count:
            raise BadFileError(f"a copy from the host has {len(data)} bytes, not {count}")
        return Transfer(self._place(event), count, data)

    def _place(self, event: Event) -> Place:
        if "variable" in event:
            name = self._names(whole(event, "variable"))
            return Place(VARIABLE + name, whole(event, "offset"))
        if not text(event, "buffer"):
            raise BadFileError("an address of the plan is no device memory")
        return Place(text(event, "buffer"), whole(event, "offset"))

    def _follows(self, *kinds: str) -> bool:
        return self._at < len(self._events) and self._events[self._at]["event"] in kinds

    def _next(self, kind: str = "") -> Event:
        if kind and not self._follows(kind):
            raise BadFileError(f"the plan is not whole: {kind} is missing")
        self._at += 1
        return self._events[self._at - 1]


def _from_digits(digits: str) -> bytes:
    try:
        return bytes.fromhex(digits)
    except ValueError:
        raise BadFileError("an argument of a launch is no bytes") from None
