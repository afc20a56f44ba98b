"""A target with a clock, on no GPU: it computes attention in NumPy, and its times are what a test says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilestep import contract, reference
from tilestep.program import Buffer, Finding, Job, Launch, LaunchPlan, Program, Run
from tilestep.targets.protocol import Call, Card, LaunchTime, Pair

PROFILE = 40  # stands for the profile length, so that a race is short

CARD = Card(
    name="a card",
    driver="580.1",
    capability=(9, 0),
    memory_bytes=2**37,
    multiprocessors=132,
    l2_bytes=50_000_000,
    bandwidth=4.8e12,
    highest_clock=1980,
    compiler="nvcc 13.0",
    flags=("-O3", "-arch=sm_90"),
)

Change = Callable[[np.ndarray, int], np.ndarray]


@dataclass
class FakeClock:
    """`ratio(n)` is the speedup of pair n. `spoil_user`, `spoil_baseline` change the output of a timed call,
    `spoil` that of a run. `throttled(n)` gives the card's reasons, `ends(n)` and `baseline_ends(n)` why a
    timed call does not finish, `run_ends(job)` why a run does not. `late(n)` and `outside(n)` are a timed
    call's of the submission."""

    ratio: Callable[[int], float] = lambda n: 2.5 + 0.01 * (n % 7)
    baseline_ms: float = 4.0
    slows_the_next: float = 1.0
    hides_ms: float = 0.0
    busy_ms: float = 0.0
    throttled: Callable[[int], tuple[str, ...]] = lambda n: ()
    slow_clock: int = 1500
    spoil: Change = lambda out, n: out
    spoil_user: Change = lambda out, n: out
    spoil_baseline: Change = lambda out, n: out
    run_ends: Callable[[Job], str] = lambda job: ""
    ends: Callable[[int], str] = lambda n: ""
    baseline_ends: Callable[[int], str] = lambda n: ""
    late: Callable[[int], bool] = lambda n: False
    outside: Callable[[int], tuple[Finding, ...]] = lambda n: ()
    ready: str | None = None
    findings: tuple[Finding, ...] = ()
    card: Card = CARD
    kind: str = "gpu"
    name: str = "a card, driver 580.1"
    checks: bool = False
    modes: list[str] = field(default_factory=list)
    fed: list[bytes] = field(default_factory=list)
    orders: list[bool] = field(default_factory=list)
    raced: list[str] = field(default_factory=list)
    warmed_up_on: bytes = b""
    soon: int = 0

    def available(self) -> str | None:
        return self.ready

    def build(self, program: Program) -> Any:
        return Fake(program)

    def run(self, built: Any, job: Job) -> Run:
        if job.mode == "record":
            return Run("finished")
        self.modes.append(job.mode)
        if says := self.run_ends(job):
            return Run("timed-out", says)
        out = self.spoil(attend(job.buffers), len(self.modes))
        plan = LaunchPlan((Launch("attend", (1, 1, 1), (32, 1, 1), 0, 2),))
        return Run("finished", outputs={"attnOut": out}, plan=plan, findings=self.findings)

    def race_soon(self) -> None:
        self.soon += 1

    @contextmanager
    def race(self, user: Any, baseline: Any, job: Job) -> Iterator[FakeClock]:
        self.raced = [user.program.file, Path(baseline.program.file).name]
        assert job.mode == "fast"
        assert job.buffers[0].data is not None
        self.warmed_up_on = job.buffers[0].data.tobytes()
        yield self

    def pair(self, buffers: tuple[Buffer, ...], user_first: bool) -> Pair:
        number = len(self.orders)
        self.orders.append(user_first)
        assert buffers[0].data is not None
        self.fed.append(buffers[0].data.tobytes())
        right = attend(buffers)
        user_ms = self.baseline_ms / self.ratio(number)
        ours_ms = self.baseline_ms * (self.slows_the_next if user_first else 1.0)
        says, ours = self.ends(number), self.baseline_ends(number)
        user = Call(
            user_ms,
            user_ms + 0.02 + self.hides_ms + self.busy_ms,
            {"attnOut": self.spoil_user(right.copy(), number)},
            "crashed" if says else "finished",
            says,
            self.late(number),
            self.outside(number),
        )
        wall = self.baseline_ms + 0.02 + self.busy_ms
        spoilt = self.spoil_baseline(right.copy(), number)
        ended = "timed-out" if ours else "not-run" if says else "finished"
        baseline = Call(ours_ms, wall, {"attnOut": spoilt}, ended, ours)
        reasons = self.throttled(number)
        return Pair(user, baseline, user_first, self.slow_clock if reasons else 1980 - number % 3, reasons)

    def launch_times(self, built: Any, job: Job, repeats: int) -> tuple[LaunchTime, ...]:
        raise AssertionError("a race needs no times of single launches")


@dataclass(frozen=True)
class Fake:
    """What the fake builds."""

    program: Program


def attend(buffers: tuple[Buffer, ...]) -> np.ndarray:
    """Right attention of a job's buffers, rounded to float32."""
    assert buffers[0].data is not None
    with np.errstate(all="ignore"):
        return reference.attention(buffers[0].data).astype(np.float32)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[FakeClock]:
    """The fake's class; the profile length is a short one meanwhile."""
    monkeypatch.setattr(contract, "PROFILE_LENGTH", PROFILE)
    return FakeClock


@pytest.fixture
def attention_file(tmp_path: Path) -> Path:
    """A file that the frontend takes; the fake computes in its place."""
    path = tmp_path / "attention.cu"
    path.write_text(
        "__global__ void attend(const float* qkv, float* out, int T) { out[threadIdx.x] = qkv[0]; }\n"
        "void runCausalAttention(const float* qkv, float* attnOut, int T)"
        " { attend<<<1, 32>>>(qkv, attnOut, T); }\n",
        encoding="utf-8",
    )
    return path
