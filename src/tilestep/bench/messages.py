"""What passes between the bench and the process that measures: an order there, messages back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilestep.bench.contenders import Contender
from tilestep.program import Floats, LaunchPlan

ROUNDS = 15
LEAST_MS = 1.0  # of kernel time in a contender's turn
MOST_REPLAYS = 40  # in a turn


@dataclass(frozen=True)
class Loaded:
    """A rung, ready to be played: the image for the card, and a plan for each length at which it has one.

    `kernels` maps the plans' names of kernels to the image's.
    """

    contender: Contender
    image: bytes
    plans: Mapping[int, LaunchPlan]
    kernels: Mapping[str, str]


@dataclass(frozen=True)
class Order:
    """What is to be measured. `packed` holds the packed tensor [T, QKV_OUT] of each length, in order.

    `skip` holds (name, length) of those that are done with.
    """

    rungs: tuple[Loaded, ...]
    peers: tuple[Contender, ...]
    packed: Mapping[int, Floats]
    seed: int
    rounds: int = ROUNDS
    skip: frozenset[tuple[str, int]] = frozenset()


@dataclass(frozen=True)
class Facts:
    """The versions of what is installed beside tilestep, by package."""

    versions: Mapping[str, str]


@dataclass(frozen=True)
class Starting:
    """A contender is being prepared. If nothing more comes, it is at fault."""

    name: str
    length: int


@dataclass(frozen=True)
class Prepared:
    """A contender's output [T, D], from a graph whose output was NaN before."""

    name: str
    length: int
    output: Floats
    how: str = ""


@dataclass(frozen=True)
class LeftOut:
    """A contender that cannot be measured: `outcome` is missing, refused or failed."""

    name: str
    length: int
    outcome: str
    reason: str


@dataclass(frozen=True)
class Timing:
    """All that could be prepared at a length is being timed."""

    length: int


@dataclass(frozen=True)
class Timed:
    """Each contender's milliseconds a round, and the replays that a round is the median of.

    `clocks` are the multiprocessors' in MHz, right after each round, 0 where they are not known; `lowered`
    says why each was lowered, "" where it was not. `late` counts the replays, of all rounds, that the host
    queued too late.
    """

    length: int
    samples: Mapping[str, tuple[float, ...]]
    replays: Mapping[str, int]
    overhead_ms: float
    clocks: tuple[int, ...] = ()
    lowered: tuple[str, ...] = ()
    late: Mapping[str, int] = field(default_factory=dict)


Message = Facts | Starting | Prepared | LeftOut | Timing | Timed
