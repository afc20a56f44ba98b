"""What every place that can run a submission offers, and what one that can time it offers too."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from tilestep.program import Buffer, Finding, Floats, Job, Program, Run

__all__ = [
    "Built",
    "Call",
    "Card",
    "Job",
    "LaunchTime",
    "Pair",
    "Race",
    "Target",
    "TargetUnavailableError",
    "TimingTarget",
]


class Built(Protocol):
    """A program that a target has built; only that target looks inside."""

    @property
    def program(self) -> Program: ...


class Target(Protocol):
    """A machine to run submissions on."""

    @property
    def kind(self) -> str:
        """cpu or gpu."""

    @property
    def name(self) -> str:
        """What a person calls it: "emulator, g++ 12.2.0, 2 cores". It has one, ready or not."""

    @property
    def checks(self) -> bool:
        """Whether runs can be watched: modes check, traffic and watch. Without, fast and record are all."""

    def available(self) -> str | None:
        """None when it is ready, else one sentence with the command that mends it."""

    def build(self, program: Program) -> Built:
        """Raises program.SubmissionError (broken) for what does not compile."""

    def run(self, built: Built, job: Job) -> Run:
        """Runs once, from a fresh start of the module. Safe in threads."""


@dataclass(frozen=True)
class Card:
    """The GPU that a target runs on, and how it compiles for it.

    Clocks are in MHz, the bandwidth in bytes a second.
    """

    name: str
    driver: str
    capability: tuple[int, int]
    memory_bytes: int
    multiprocessors: int
    l2_bytes: int
    bandwidth: float  # of its memory, as the card states it; 0 where it does not
    highest_clock: int
    compiler: str  # name and version
    flags: tuple[str, ...] = ()
    others: int = 0  # processes of others that were on the card at the start


class TargetUnavailableError(Exception):
    """The target is not there, or no longer, or has no room: one sentence, with what mends it.

    Neither the submission's fault nor ours. Whatever a target is asked for may raise it, since what
    `available` saw may be gone by then.
    """


@dataclass(frozen=True)
class Call:
    """One timed call of a seam's plan: milliseconds between the events around it, and what it wrote.

    `wall_ms` is the same call on the host's clock, from when it sees the first event pass until the whole
    device is idle: work that hides from the events shows there. `late`: the host was still queueing when the
    first event passed, so a gap of its own lies between the events. `findings` are what the memory around the
    buffers showed. `ended` and `says` are as a Run's; a call that could not be made because the one before it
    did not finish has ended as `not-run`.
    """

    ms: float
    wall_ms: float
    outputs: Mapping[str, Floats] = field(default_factory=dict)
    ended: str = "finished"
    says: str = ""
    late: bool = False
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Pair:
    """The baseline and the submission, one right after the other, on equal inputs."""

    user: Call
    baseline: Call
    user_first: bool
    clock: int  # of the multiprocessors right after each, the lower, MHz; 0 where it cannot be read
    throttled: tuple[str, ...] = ()  # the reasons that the card gave for a lowered clock, if any

    @property
    def ratio(self) -> float:
        """How many times faster the submission was than the baseline."""
        return self.baseline.ms / self.user.ms


@dataclass(frozen=True)
class LaunchTime:
    """The times in milliseconds of one item of a plan, over repeated calls."""

    kernel: str
    line: int | None
    ms: tuple[float, ...]


class Race(Protocol):
    """Two built programs, loaded side by side, each in a process of its own."""

    def pair(self, buffers: tuple[Buffer, ...], user_first: bool) -> Pair:
        """Both plans once on these inputs. Before each: fresh inputs, NaN in every output, a cold L2."""


@runtime_checkable
class TimingTarget(Target, Protocol):
    """A target whose times mean something."""

    @property
    def card(self) -> Card: ...

    def race_soon(self) -> None:
        """Begins in the background what every race needs, where that takes time. Raises what a run raises."""

    def race(self, user: Built, baseline: Built, job: Job) -> AbstractContextManager[Race]:
        """Loads both modules anew, records both plans for `job` (its sizes and shapes), and warms them up."""

    def launch_times(self, built: Built, job: Job, repeats: int) -> tuple[LaunchTime, ...]:
        """Each launch of the plan for `job` by itself. Raises RuntimeError if a run fails."""
