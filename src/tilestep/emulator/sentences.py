"""One event of the worker as a sentence. Parts that an event lacks are left out, never guessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tilestep.emulator.symbolise import Place
from tilestep.emulator.worker_files import Event, text, triple
from tilestep.program import Triple

_WARP = 32
_FLOAT_BYTES = 4

Shapes = Mapping[str, tuple[int, ...]]

_DOES = {"read": "reads", "write": "writes", "atomic": "atomically updates"}
_DID = {"read": "read", "write": "wrote", "atomic": "atomically updated"}


@dataclass(frozen=True)
class _Event:
    """The parts of an event as words for a sentence."""

    event: Event
    where: Place | None
    other_where: Place | None
    shapes: Shapes
    title: str

    @property
    def detail(self) -> str:
        return text(self.event, "detail")

    @property
    def array(self) -> str:
        return text(self.event, "array")

    @property
    def element(self) -> int | None:
        value = self.event.get("element")
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    @property
    def actor(self) -> str:
        """`in attend, thread 33 of block 5`, as far as it is known."""
        kernel = text(self.event, "kernel")
        thread, block = triple(self.event, "thread"), triple(self.event, "block")
        who = f"thread {_short(thread)}" if thread else "a thread"
        if block:
            who += f" of block {_short(block)}"
        return f"in {kernel}, {who}" if kernel else who

    @property
    def other(self) -> str:
        """`thread 1`, with its block where that is another one."""
        thread, block = triple(self.event, "other_thread"), triple(self.event, "other_block")
        who = f"thread {_short(thread)}" if thread else "another thread"
        return f"{who} of block {_short(block)}" if block and self.other_block else who

    @property
    def other_block(self) -> bool:
        block, other = triple(self.event, "block"), triple(self.event, "other_block")
        return block is not None and other is not None and block != other

    @property
    def same_warp(self) -> bool:
        """Known only for threads whose number is their x alone."""
        one, two = triple(self.event, "thread"), triple(self.event, "other_thread")
        return bool(one and two and one[1:] == two[1:] == (0, 0) and one[0] // _WARP == two[0] // _WARP)

    @property
    def at_other_line(self) -> str:
        if self.other_where is None:
            return ""
        if self.where == self.other_where:
            return " at the same line"
        return f" at line {self.other_where.line}"

    @property
    def spot(self) -> str:
        """The array and the place in it: `tile[4][1] (byte 516)`, `byte 516 of tile`, `tile`, or `memory`."""
        if not self.array:
            return "memory"
        if self.element is None:
            return self.array
        index = _index(self.element, self.shapes.get(self.array, ()))
        return (
            f"{self.array}{index} (byte {self.element})" if index else f"byte {self.element} of {self.array}"
        )


def _short(index: Triple) -> str:
    return str(index[0]) if index[1:] == (0, 0) else f"({index[0]}, {index[1]}, {index[2]})"


def _index(byte: int, shape: tuple[int, ...]) -> str:
    """`[4][1]` for a byte offset into an array of floats; nothing where it lies outside."""
    rest, parts = byte // _FLOAT_BYTES, []
    for size in reversed(shape[1:]):
        parts.append(rest % size)
        rest //= size
    if not shape or not 0 <= rest < shape[0]:
        return ""
    return "".join(f"[{part}]" for part in [rest, *reversed(parts)])


def _bounds(event: _Event) -> str:
    does = _DOES.get(event.detail, "touches")
    element, array = event.element, event.array
    if not array:
        return f"{event.actor} {does} memory that belongs to no array"
    if element is None:
        return f"{event.actor} {does} memory outside {array}"
    if element < 0:
        return f"{event.actor} {does} memory {_bytes(-element)} before the start of {array}"
    return f"{event.actor} {does} byte {element} of {array}, which lies past its end"


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


def _guard_band(event: _Event) -> str:
    side = {"before": "before the start", "after": "past the end"}.get(event.detail, "outside")
    of = "" if side == "outside" else " of"
    return f"memory {side}{of} {event.array or 'a buffer'} was written during the run"


def _uninitialised(event: _Event) -> str:
    does = _DOES.get(event.detail, "reads")
    return f"{event.actor} {does} {event.spot}, which nobody has written before"


def _race(event: _Event) -> str:
    earlier, _, later = event.detail.partition("-")
    what = f"{event.actor} {_DOES.get(later, 'touches')} {event.spot} that {event.other} "
    what += f"{_DID.get(earlier, 'touched')}{' as well' if earlier == later else ''}{event.at_other_line}"
    if event.other_block:
        return f"{what}; the blocks of one launch run in no order"
    return f"{what}, with no {'__syncwarp or ' if event.same_warp else ''}barrier between"


def _divergent_barrier(event: _Event) -> str:
    if event.detail == "early-exit":
        return f"{event.actor} waits at this barrier, but {event.other} has already left the kernel"
    other = f"at the barrier at line {event.other_where.line}" if event.other_where else "at another barrier"
    return f"{event.actor} waits at this barrier while {event.other} waits {other}"


def _misaligned(event: _Event) -> str:
    size = event.detail or "several"
    return f"{event.actor} accesses {size} bytes at {event.spot}, an address that is no multiple of {size}"


def _input_written(event: _Event) -> str:
    if event.element is None or event.element < 0:
        return f"the input {event.array or 'buffer'} was changed during the run"
    return f"{event.actor} {_DOES.get(event.detail, 'writes')} {event.spot}, an input"


def _constant_written(event: _Event) -> str:
    return f"{event.actor} {_DOES.get(event.detail, 'writes')} {event.spot}, a __constant__ variable"


def _launch_refused(event: _Event) -> str:
    kernel = text(event.event, "kernel")
    launch = f"a GPU would refuse to launch {kernel}" if kernel else "a GPU would refuse this launch"
    return f"{launch}: {event.detail}" if event.detail else launch


def _endless_loop(event: _Event) -> str:
    if event.detail == "barriers":
        return f"{event.actor} only passes barrier after barrier: its loop most likely never ends"
    return (
        f"{event.actor} is still running after so many memory accesses that its loop most likely never ends"
    )


def _stack_overflow(event: _Event) -> str:
    return f"{event.actor} has used up its stack: its local arrays or its recursion need too much"


def _bad_pointer(event: _Event) -> str:
    what = {"null pointer": "a null pointer"}.get(
        event.detail, f"a pointer to {event.detail or 'no device memory'}"
    )
    return f"{event.actor} follows {what}"


def _shuffle_mask(event: _Event) -> str:
    if event.detail == "exited-lane":
        kernel = text(event.event, "kernel")
        start = f"in {kernel}, the" if kernel else "the"
        return f"{start} mask of this collective names {event.other}, which has already left the kernel"
    mask = f" {event.element:#x}" if event.element is not None and event.element >= 0 else ""
    return f"{event.actor} calls this collective with a mask{mask} that does not name its own lane"


def _deadlock(event: _Event) -> str:
    what = {"warp": "for lanes of its warp", "barrier": "at a barrier for threads"}.get(
        event.detail, "for threads"
    )
    return f"{event.actor} waits {what} that can no longer come"


def _assert_failed(event: _Event) -> str:
    return f"{event.actor} stops the kernel: {event.detail or 'an assertion does not hold'}"


def _general(event: _Event) -> str:
    return f"{event.actor}: {event.title.lower() or 'a fault'}{f' ({event.detail})' if event.detail else ''}"


_SENTENCES: dict[str, Callable[[_Event], str]] = {
    "out-of-bounds-global": _bounds,
    "out-of-bounds-shared": _bounds,
    "guard-band": _guard_band,
    "uninitialised-global": _uninitialised,
    "uninitialised-shared": _uninitialised,
    "race-global": _race,
    "race-shared": _race,
    "divergent-barrier": _divergent_barrier,
    "misaligned": _misaligned,
    "input-written": _input_written,
    "constant-written": _constant_written,
    "launch-refused": _launch_refused,
    "endless-loop": _endless_loop,
    "stack-overflow": _stack_overflow,
    "bad-pointer": _bad_pointer,
    "shuffle-mask": _shuffle_mask,
    "deadlock": _deadlock,
    "assert-failed": _assert_failed,
}


def sentence(event: Event, where: Place | None, other: Place | None, shapes: Shapes, title: str) -> str:
    """What a finding's event says; `title` serves codes that have no sentence of their own."""
    return _SENTENCES.get(text(event, "code"), _general)(_Event(event, where, other, shapes, title))
