"""The faults that the emulator finds: their codes, and how one event of the worker becomes a sentence.

An event tells bytes, counters and thread numbers; the sentence names the kernel, the thread, the array and, for a
race, who else was there. Parts that an event lacks are left out of the sentence, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tilestep.emulator.symbolise import Place
from tilestep.emulator.worker_files import Event, text, triple, whole
from tilestep.program import Finding, Triple

_WARP = 32
_FLOAT_BYTES = 4

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class FindingCode:
    """One kind of fault. `says` is what is wrong with it, in a sentence for somebody who has not met it."""

    code: str
    title: str
    says: str


CATALOGUE: tuple[FindingCode, ...] = (
    FindingCode(
        "out-of-bounds-global",
        "Access outside a buffer",
        "A thread reads or writes global memory before the first or after the last byte of every buffer.",
    ),
    FindingCode(
        "out-of-bounds-shared",
        "Access outside a shared array",
        "A thread reads or writes shared memory before or after every array of its block.",
    ),
    FindingCode(
        "guard-band",
        "A buffer's surroundings were changed",
        "After the run the bytes beside a buffer were not what they had been: something wrote out of its bounds.",
    ),
    FindingCode(
        "uninitialised-global",
        "Read of global memory that nobody wrote",
        "A thread reads an output or a scratch buffer before anything was stored there: what it gets is left over.",
    ),
    FindingCode(
        "uninitialised-shared",
        "Read of shared memory that nobody wrote",
        "A thread reads shared memory that no thread of its block has written: what it gets is left over.",
    ),
    FindingCode(
        "race-global",
        "Data race in global memory",
        "Two threads touch the same bytes of global memory, one of them writes, and nothing orders the two.",
    ),
    FindingCode(
        "race-shared",
        "Data race in shared memory",
        "Two threads of a block touch the same bytes of shared memory, one of them writes, and nothing orders the two.",
    ),
    FindingCode(
        "divergent-barrier",
        "Barrier that not all threads reach",
        "Threads of one block wait at different barriers, or some have left the kernel before the others' barrier.",
    ),
    FindingCode(
        "misaligned",
        "Misaligned access",
        "A vector access needs an address that is a multiple of its size; a GPU stops the kernel at this one.",
    ),
    FindingCode(
        "input-written",
        "Input changed",
        "A kernel writes to a buffer that it was only given to read.",
    ),
    FindingCode(
        "constant-written",
        "Write to a __constant__ variable",
        "Constant memory can be set by the host only; a kernel must not write it.",
    ),
    FindingCode(
        "launch-refused",
        "Launch that a GPU would refuse",
        "The launch asks for more than a GPU gives, so the kernel would never run.",
    ),
    FindingCode(
        "endless-loop",
        "Kernel that does not end",
        "The kernel has made so many memory accesses without ending that a loop of it most likely never ends.",
    ),
    FindingCode(
        "stack-overflow",
        "Stack overflow",
        "A thread's local arrays and calls need more stack than a thread has.",
    ),
    FindingCode(
        "bad-pointer",
        "Pointer that is not device memory",
        "A kernel follows a pointer that leads to no memory of the device: null, host memory, or another thread's own.",
    ),
    FindingCode(
        "shuffle-mask",
        "Wrong mask of a warp collective",
        "The mask of a shuffle or vote must name the lanes that take part in it: all of them and no others.",
    ),
    FindingCode(
        "deadlock",
        "Threads that wait for ever",
        "Every thread of a block that is left waits for lanes or threads that can no longer come.",
    ),
    FindingCode(
        "order-dependent",
        "Result that depends on the order of threads",
        "The same input gives different outputs when the threads run in another order.",
    ),
    FindingCode(
        "assert-failed",
        "Assertion failed",
        "An assert, or a __trap, of the kernel itself has stopped it.",
    ),
)
CODE: dict[str, FindingCode] = {entry.code: entry for entry in CATALOGUE}

_DOES = {"read": "reads", "write": "writes", "atomic": "atomically updates"}
_DID = {"read": "read", "write": "wrote", "atomic": "atomically updated"}


def describe(
    event: Event, where: Place | None, other_where: Place | None, shapes: Shapes | None = None
) -> Finding:
    """One finding, from the worker's event and the places of its program counters.

    `shapes` holds the dimensions of float arrays by name, where they are known: a byte offset is then told as an index.
    """
    code = text(event, "code")
    says = _SENTENCES.get(code, _general)(_Event(event, other_where, where, shapes or {}))
    return Finding(
        code=code,
        says=says,
        file=where.file if where else "",
        line=where.line if where else whole(event, "line") or None,
        kernel=text(event, "kernel"),
        array=text(event, "array"),
        block=triple(event, "block"),
        thread=triple(event, "thread"),
        count=max(1, whole(event, "count", 1)),
    )


@dataclass(frozen=True)
class _Event:
    """The parts of an event as words for a sentence."""

    event: Event
    other_where: Place | None
    where: Place | None
    shapes: Shapes

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
    known = CODE.get(text(event.event, "code"))
    says = known.title.lower() if known else text(event.event, "code").replace("-", " ") or "a fault"
    return f"{event.actor}: {says}{f' ({event.detail})' if event.detail else ''}"


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
