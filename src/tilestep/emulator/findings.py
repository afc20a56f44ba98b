"""The faults that the emulator finds: their codes, and how one event of the worker becomes a sentence.

An event tells bytes, counters and thread numbers; the sentence names the kernel, the thread, the array and,
for a race, who else was there (sentences.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tilestep.emulator.sentences import Shapes, sentence
from tilestep.emulator.symbolise import Place
from tilestep.emulator.worker_files import Event, text, triple, whole
from tilestep.program import Finding


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
        "After the run the bytes beside a buffer had changed: something wrote out of its bounds.",
    ),
    FindingCode(
        "uninitialised-global",
        "Read of global memory that nobody wrote",
        "A thread reads an output or a scratch buffer before anything was stored there.",
    ),
    FindingCode(
        "uninitialised-shared",
        "Read of shared memory that nobody wrote",
        "A thread reads shared memory that no thread of its block has written.",
    ),
    FindingCode(
        "race-global",
        "Data race in global memory",
        "Two threads touch the same bytes of global memory, one of them writes, and nothing orders the two.",
    ),
    FindingCode(
        "race-shared",
        "Data race in shared memory",
        "Two threads touch the same bytes of shared memory, one of them writes, and nothing orders the two.",
    ),
    FindingCode(
        "divergent-barrier",
        "Barrier that not all threads reach",
        "Threads of a block wait at different barriers, or some have left before the others' barrier.",
    ),
    FindingCode(
        "misaligned",
        "Misaligned access",
        "An access needs an address that is a multiple of its size; a GPU stops the kernel at this one.",
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
        "After so many memory accesses, or barriers without one, a loop most likely never ends.",
    ),
    FindingCode(
        "stack-overflow",
        "Stack overflow",
        "A thread's local arrays and calls need more stack than a thread has.",
    ),
    FindingCode(
        "bad-pointer",
        "Pointer that is not device memory",
        "A kernel follows a pointer to no memory of the device: null, host memory, a thread's own.",
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

_RACES = ("race-global", "race-shared")
_UNINITIALISED = ("uninitialised-global", "uninitialised-shared")


def describe(
    event: Event, where: Place | None, other_where: Place | None, shapes: Shapes | None = None
) -> Finding:
    """One finding, from the worker's event and the places of its program counters.

    `shapes` holds the dimensions of float arrays by name, where they are known: a byte offset is then told as
    an index.
    """
    code = text(event, "code")
    title = CODE[code].title if code in CODE else code.replace("-", " ")
    return Finding(
        code=code,
        says=sentence(event, where, other_where, shapes or {}, title),
        file=where.file if where else "",
        line=where.line if where else whole(event, "line") or None,
        kernel=text(event, "kernel"),
        array=text(event, "array"),
        block=triple(event, "block"),
        thread=triple(event, "thread"),
        count=max(1, whole(event, "count", 1)),
    )


def without_consequences(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings less those that only follow from another: a racing read that came before any write.

    Such a read is uninitialised in one order of threads and a race in all; the missing barrier is the fault.
    """
    findings = tuple(findings)
    racing = {(finding.file, finding.line, finding.array) for finding in findings if finding.code in _RACES}
    return tuple(
        finding
        for finding in findings
        if finding.code not in _UNINITIALISED or (finding.file, finding.line, finding.array) not in racing
    )
