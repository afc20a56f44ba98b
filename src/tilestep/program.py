"""Plain data that flows from a submission file to a verdict: Program, LaunchPlan, Run, Finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class SubmissionError(Exception):
    """A submission that cannot be judged: one clear sentence, with the line where there is one.

    `outcome` is `refused` (outside the rules) or `broken` (does not compile).
    """

    def __init__(
        self, says: str, *, file: str = "", line: int | None = None, outcome: str = "refused"
    ) -> None:
        where = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        super().__init__(where + says)
        self.says = says
        self.file = file
        self.line = line
        self.outcome = outcome


@dataclass(frozen=True)
class KernelSource:
    """A __global__ function as the submission writes it."""

    name: str
    line: int


@dataclass(frozen=True)
class Program:
    """A submission, ready for a target to build.

    `source` is the translation unit for a host compiler, with #line directives that lead back to `file`;
    `text` is the file as it is written, for a compiler that knows CUDA.
    """

    file: str
    sha256: str
    language: str
    step: str
    source: str
    kernels: tuple[KernelSource, ...] = ()
    text: str = ""


Triple = tuple[int, int, int]

VARIABLE = "variable "  # begins the name of a Place in a variable of the module; the linker's name follows


def scratch_name(number: int) -> str:
    """The buffer of the seam's scratch request with that number, from 1; the recorder uses the same names."""
    return f"scratch {number}"


@dataclass(frozen=True)
class Place:
    """An address in device memory: bytes from the start of a buffer, or of a variable of the module.

    `buffer` is a buffer of the job, a `scratch_name` in the order of the requests, or VARIABLE with a name.
    `offset` may lie outside: a pointer may point anywhere.
    """

    buffer: str
    offset: int = 0

    @property
    def variable(self) -> str | None:
        """The variable that it lies in, by the linker's name; None for a buffer."""
        return self.buffer.removeprefix(VARIABLE) if self.buffer.startswith(VARIABLE) else None


@dataclass(frozen=True)
class Argument:
    """A kernel argument as the kernel receives it, converted to the type of its parameter.

    `pointers` maps offsets in `data` to what the eight bytes there point to; in `data` they are zero.
    """

    data: bytes
    pointers: tuple[tuple[int, Place], ...] = ()


@dataclass(frozen=True)
class Launch:
    """One kernel launch of a plan. `symbol` and `arguments` are known where the plan was recorded for them.

    `kernel` is as the submission writes it, `symbol` as the linker knows it. `shared_limit` is what the seam
    had last set as the kernel's cudaFuncAttributeMaxDynamicSharedMemorySize, None where it had set nothing.
    """

    kernel: str
    grid: Triple
    block: Triple
    dynamic_shared: int
    line: int | None = None
    symbol: str = ""
    arguments: tuple[Argument, ...] = ()
    shared_limit: int | None = None


@dataclass(frozen=True)
class Transfer:
    """Device memory that the seam sets itself: `count` bytes from `source`, or of the value `fill`.

    `source` is device memory, or the bytes of the host that are copied.
    """

    to: Place
    count: int
    source: Place | bytes | None = None
    fill: int = 0


@dataclass(frozen=True)
class LaunchPlan:
    """What a seam asked for: launches, and scratch memory; `variables` are the module's own, in bytes.

    `items` holds the launches and the memsets and copies around them, in order; it is empty where the plan
    was not recorded for a replay.
    """

    launches: tuple[Launch, ...] = ()
    memsets: int = 0
    scratch_bytes: tuple[int, ...] = ()
    variables: Mapping[str, int] = field(default_factory=dict)
    items: tuple[Launch | Transfer, ...] = ()


@dataclass(frozen=True)
class Finding:
    """A fault that a checker saw, at a line of the submission."""

    code: str
    says: str
    file: str = ""
    line: int | None = None
    kernel: str = ""
    array: str = ""
    block: Triple | None = None
    thread: Triple | None = None
    count: int = 1


@dataclass(frozen=True)
class Traffic:
    """Bytes that the kernels' threads loaded from and stored to global memory, by (buffer, region).

    The region is "" for a buffer without named column ranges.
    """

    read: Mapping[tuple[str, str], int] = field(default_factory=dict)
    written: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True)
class Buffer:
    """Device memory that a seam is handed. `data` is None for an output: NaN before the run."""

    name: str
    rows: int
    width: int
    role: str  # in, out, inout
    data: Floats | None = None
    regions: tuple[tuple[str, int, int], ...] = ()  # (name, first column, one past the last)


@dataclass(frozen=True)
class Piece:
    """Values [begin, end) of a buffer, counted row by row from its start."""

    buffer: str
    begin: int
    end: int


@dataclass(frozen=True)
class SharedEvent:
    """What happened next in a block's shared memory: bytes written at an offset, or a barrier (no bytes).

    `epoch` counts the barriers passed, from 1; `line` is the submission's, where it is known.
    """

    kind: str  # write, barrier
    epoch: int
    line: int | None = None
    offset: int = 0
    data: bytes = b""


@dataclass(frozen=True)
class SharedArray:
    """An array of shared memory, in bytes; `row` is its innermost dimension, 0 where that is not known."""

    name: str
    begin: int
    end: int
    row: int = 0


@dataclass(frozen=True)
class WatchedBlock:
    """A block that wrote into the watched piece, its shared arrays and their log."""

    launch: int
    kernel: str
    line: int | None
    block: Triple
    arrays: tuple[SharedArray, ...] = ()
    events: tuple[SharedEvent, ...] = ()


@dataclass(frozen=True)
class Work:
    """Memory accesses of one launch: global and shared, none of a thread's own variables.

    `busiest` adds up what the busiest thread of each block makes, `longest` is the most that one makes;
    `active` counts threads that make any; `read` and `written` are bytes of global memory; `blocks` counts
    those that were run.
    """

    launch: int
    blocks: int
    threads: int
    active: int
    accesses: int
    busiest: int
    longest: int
    read: int
    written: int
    static_shared: int


@dataclass(frozen=True)
class Job:
    """One run of a program: what it is fed, how it is watched, and what it may use.

    `mode` is fast (no checks), check (every checker, one thread), traffic (global bytes counted only), watch
    (no checks, one thread: work is counted, and the shared memory of blocks that write into `watch` is
    logged; `sample` blocks of a launch are run, 0: all) or record (the seam only: no kernel runs, and the
    plan holds what a replay needs).
    `order` is the order in which a block's threads run: forward, reverse or "random SEED".
    `timeout` is wall-clock seconds; `budget` counts memory accesses in all (0: no limit); `scratch_bytes` is
    the device memory that the seam may ask for.
    """

    buffers: tuple[Buffer, ...]
    sizes: tuple[int, ...]
    mode: str = "check"
    order: str = "forward"
    threads: int = 1
    budget: int = 400_000_000
    timeout: float = 20.0
    scratch_bytes: int = 0
    watch: Piece | None = None
    sample: int = 0


@dataclass(frozen=True)
class Run:
    """What came out of running a program once.

    `ended` is finished, refused, crashed or timed-out; `says` tells why it is not finished.
    """

    ended: str
    says: str = ""
    outputs: Mapping[str, Floats] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    plan: LaunchPlan = LaunchPlan()
    traffic: Traffic | None = None
    watched: tuple[WatchedBlock, ...] = ()
    work: tuple[Work, ...] = ()
    watch_cut: bool = False  # there was more to log than is kept
    line: int | None = None
    seconds: float = 0.0
    accesses: int = 0
