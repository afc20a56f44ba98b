"""How much work each launch is, in memory accesses that the emulator counts. Never time: no GPU has run.

A block is as slow as its busiest thread, so the accesses of those are added up over the blocks: the launch's
*depth*. The same accesses dealt out over 256 threads are as many in all, and a 256th of the depth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tilestep import contract, kernels
from tilestep.inspect.session import CannotLook, Session, open_session
from tilestep.program import Launch, Run, Work
from tilestep.subjects import registered
from tilestep.targets.protocol import Target

COUNTED_BLOCKS = 64  # of each launch, evenly spaced, scaled to all of them
ATTENTION = ("attention/01_serial.cu", "attention/02_cooperative.cu", "attention/03_online.cu")
BEFORE, AFTER = ("rmsnorm", "qkv-projection", "rope"), ("swiglu",)  # the block's other steps, in its order
UNIT = "one unit is one memory access of a block's busiest thread, not a microsecond"


@dataclass(frozen=True)
class Bar:
    """One launch. `depth`, `accesses` and the bytes `read` and `written` are of all blocks, scaled."""

    step: str
    kernel: str
    line: int | None
    blocks: int
    counted: int
    threads: int  # of a block
    active: float  # of these, how many access memory at all, on average
    depth: int
    accesses: int
    read: int
    written: int


@dataclass(frozen=True)
class Lane:
    """Launches in order: of one file, or of a whole block."""

    name: str
    bars: tuple[Bar, ...]

    @property
    def depth(self) -> int:
        return sum(bar.depth for bar in self.bars)


@dataclass(frozen=True)
class Timeline:
    """What `show timeline` shows."""

    length_name: str
    length: int
    lanes: tuple[Lane, ...]

    def to_json(self) -> dict[str, Any]:
        """One document for programs."""
        return {
            "length": self.length,
            "unit": UNIT,
            "lanes": [
                {"name": lane.name, "depth": lane.depth, "launches": [vars(bar) for bar in lane.bars]}
                for lane in self.lanes
            ],
        }


def look_at_files(sessions: Sequence[Session], length: int | None) -> Timeline:
    """A lane for each session, at a length that all of their steps have: by default the longest.

    Raises CannotLook for a length that a step has not, and for a run that does not finish.
    """
    longest = min(session.subject.longest for session in sessions)
    chosen = longest if length is None else length
    lanes = []
    for session in sessions:
        families = session.subject.families(chosen) if 1 <= chosen <= longest else ("normal",)
        run = session.watched(session.case(chosen, families[0]), sample=COUNTED_BLOCKS)
        lanes.append(Lane(session.program.file, bars(session.step.name, run)))
    return Timeline(sessions[0].step.length_name, chosen, tuple(lanes))


def look_at_block(seed: int, target: Target, length: int | None) -> Timeline:
    """The block by our own kernels, once for each way to do attention: serial rows are what stage 11 costs.

    What stands between the steps (output projection, residual, down projection) is no step, and has no bar.
    """
    chosen = contract.PROFILE_LENGTH if length is None else length
    if not 1 <= chosen <= contract.PROFILE_LENGTH:
        raise CannotLook(f"T = {chosen} is not a length of the block: 1 to {contract.PROFILE_LENGTH}")

    def work(name: str, step: str) -> tuple[Bar, ...]:
        session = open_session(kernels.path(name), step, seed, target)
        case = session.subject.make(chosen, session.subject.families(chosen)[0], seed)
        return bars(step, session.watched(case, sample=COUNTED_BLOCKS))

    before = [bar for step in BEFORE if (name := _best(step)) for bar in work(name, step)]
    after = [bar for step in AFTER if (name := _best(step)) for bar in work(name, step)]
    lanes = [
        Lane(f"block with {name}", (*before, *work(name, "causal-attention"), *after)) for name in ATTENTION
    ]
    return Timeline("T", chosen, tuple(lanes))


def _best(step: str) -> str | None:
    """Our last kernel for a step that can be judged, None where there is none."""
    rungs = [name for name in kernels.names() if name.startswith(f"{step}/")]
    return rungs[-1] if rungs and step in registered() else None


def bars(step: str, run: Run) -> tuple[Bar, ...]:
    """A bar for each launch of a step's run that was watched."""
    return tuple(
        _bar(step, launch, work)
        for launch, work in zip(run.plan.launches, run.work, strict=False)
        if work.blocks
    )


def _bar(step: str, launch: Launch, work: Work) -> Bar:
    blocks = math.prod(launch.grid)

    def all_of(count: int) -> int:
        return round(count * blocks / work.blocks)

    return Bar(
        step=step,
        kernel=launch.kernel,
        line=launch.line,
        blocks=blocks,
        counted=work.blocks,
        threads=math.prod(launch.block),
        active=work.active / work.blocks,
        depth=all_of(work.busiest),
        accesses=all_of(work.accesses),
        read=all_of(work.read),
        written=all_of(work.written),
    )
