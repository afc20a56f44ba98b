"""How long each launch takes on a GPU: the block by our own kernels, with a person's in their places."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilestep import contract, kernels
from tilestep.inspect.session import CannotLook, NoTarget, Session, open_session
from tilestep.inspect.timeline import ATTENTION
from tilestep.judge import schedule
from tilestep.judge.compare import Array
from tilestep.judge.inputs import block_inputs
from tilestep.judge.trusted import Call, TrustedKernels, in_order
from tilestep.program import Job
from tilestep.targets.protocol import Built, TimingTarget

REPEATS = 20  # calls of each launch whose median is shown


@dataclass(frozen=True)
class TimedBar:
    """One launch: the median of its times in milliseconds, the fastest and the slowest."""

    step: str
    kernel: str
    line: int | None
    ms: float
    fastest: float
    slowest: float


@dataclass(frozen=True)
class TimedLane:
    """Launches in order: of one file, or of a whole block."""

    name: str
    bars: tuple[TimedBar, ...]

    @property
    def ms(self) -> float:
        """The launches' times together, without what lies between them."""
        return sum(bar.ms for bar in self.bars)


@dataclass(frozen=True)
class Times:
    """What `show timeline` shows on a GPU."""

    length_name: str
    length: int
    card: str
    repeats: int
    lanes: tuple[TimedLane, ...]

    def to_json(self) -> dict[str, Any]:
        """One document for programs."""
        return {
            "length": self.length,
            "unit": "ms",
            "card": self.card,
            "repeats": self.repeats,
            "lanes": [
                {"name": lane.name, "ms": lane.ms, "launches": [vars(bar) for bar in lane.bars]}
                for lane in self.lanes
            ],
        }


def time_files(
    files: Sequence[str], step: str | None, seed: int, target: TimingTarget, length: int | None
) -> Times:
    """A lane for each file: the block with the file's kernel for its step and ours for the others, behind one
    that is all ours; for a step of the Reduction path the file's own launches.

    Raises CannotLook for a file that does not build or run, and for a length that a step has not; NoTarget
    where there is no GPU.
    """
    sessions = [open_session(file, step, seed, target) for file in files]
    if len({session.step.path for session in sessions}) > 1:
        raise CannotLook("these files belong to different paths, which have no length in common")
    if sessions[0].step.path == "block":
        block = _Block(seed, target, length)
        lanes = [("block with our kernels", None), *((f"block with {s.program.file}", s) for s in sessions)]
        return block.times([(name, _seam_of(session)) for name, session in lanes])
    longest = min(session.subject.longest for session in sessions)
    chosen = longest if length is None else length
    return _times(sessions[0].step.length_name, chosen, target, [_alone(s, target, chosen) for s in sessions])


def time_block(seed: int, target: TimingTarget, length: int | None) -> Times:
    """The block by our own kernels, once for each way to do attention: serial rows are what stage 11 costs.

    Raises CannotLook for a length that the block has not, NoTarget where there is no GPU.
    """
    if mending := target.available():
        raise NoTarget(mending)
    block = _Block(seed, target, length)
    sessions = [open_session(kernels.path(name), "causal-attention", seed, target) for name in ATTENTION]
    return block.times(
        [(f"block with {name}", _seam_of(s)) for name, s in zip(ATTENTION, sessions, strict=True)]
    )


class _Block:
    """The block's tensors by our kernels, and the times of every call that was made."""

    def __init__(self, seed: int, target: TimingTarget, length: int | None) -> None:
        self._seed, self._target = seed, target
        self._length = contract.PROFILE_LENGTH if length is None else length
        if not 1 <= self._length <= contract.PROFILE_LENGTH:
            raise CannotLook(
                f"T = {self._length} is not a length of the block: 1 to {contract.PROFILE_LENGTH}"
            )
        self._ours = TrustedKernels(target)
        self._ours.build_all()
        self._fed: list[tuple[Call, dict[str, Array]]] = []
        tensors = block_inputs(self._length, seed)
        for call in in_order():
            self._fed.append((call, tensors))
            tensors = tensors | self._ours.run(call, tensors, seed)
        self._known: dict[str, tuple[TimedBar, ...]] = {}

    def times(self, lanes: Sequence[tuple[str, Mapping[str, Session]]]) -> Times:
        """Lanes by name, each with the sessions that stand for our kernels, by the name of their seam."""
        made = [TimedLane(name, self._lane(sessions)) for name, sessions in lanes]
        return _times("T", self._length, self._target, made)

    def _lane(self, sessions: Mapping[str, Session]) -> tuple[TimedBar, ...]:
        bars: list[TimedBar] = []
        for call, tensors in self._fed:
            session = sessions.get(call.step.seam.function)
            if session is None:
                bars.extend(self._our_bars(call, tensors))
                continue
            case = call.case(tensors, self._seed)
            job = schedule.fast_job(session.step, case)
            bars.extend(_bars(self._target, session.built, session.step.name, job))
        return tuple(bars)

    def _our_bars(self, call: Call, tensors: Mapping[str, Array]) -> tuple[TimedBar, ...]:
        if call.makes not in self._known:
            job = self._ours.job(call, tensors, self._seed)
            built = self._ours.built(call.step.name)
            self._known[call.makes] = _bars(self._target, built, call.step.name, job)
        return self._known[call.makes]


def _seam_of(session: Session | None) -> dict[str, Session]:
    return {session.step.seam.function: session} if session else {}


def _alone(session: Session, target: TimingTarget, length: int) -> TimedLane:
    families = session.subject.families(length) if 1 <= length <= session.subject.longest else ("normal",)
    job = schedule.fast_job(session.step, session.case(length, families[0]))
    return TimedLane(session.program.file, _bars(target, session.built, session.step.name, job))


def _bars(target: TimingTarget, built: Built, step: str, job: Job) -> tuple[TimedBar, ...]:
    try:
        timed = target.launch_times(built, job, REPEATS)
    except RuntimeError as error:
        raise CannotLook(f"{built.program.file}: {error}") from error
    return tuple(
        TimedBar(step, one.kernel, one.line, statistics.median(one.ms), min(one.ms), max(one.ms))
        for one in timed
    )


def _times(length_name: str, length: int, target: TimingTarget, lanes: Sequence[TimedLane]) -> Times:
    return Times(length_name, length, target.name, REPEATS, tuple(lanes))
