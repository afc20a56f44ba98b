"""The judge's way on a target without checkers: the emulator in a GPU's place, with a clock of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tilestep import contract, kernels
from tilestep.judge import judge
from tilestep.program import Buffer, Job, Run
from tilestep.targets.cpu import CpuTarget
from tilestep.targets.protocol import Built, Call, Card, LaunchTime, Pair

PROFILE = 64
CARD = Card("a card", "1", (9, 0), 0, 1, 0, 0.0, 0, "g++")


class Clocked(CpuTarget):
    """Runs on the emulator, and says that the baseline takes a millisecond and a submission `ms`."""

    kind = "gpu"
    checks = False
    card = CARD

    def __init__(self, ms: float) -> None:
        super().__init__()
        self.ms = ms
        self.modes: set[str] = set()

    def run(self, built: Built, job: Job) -> Run:
        if job.mode == "record":
            return Run("finished")
        self.modes.add(job.mode)
        return super().run(built, job)

    def race_soon(self) -> None:
        """There is nothing to begin."""

    @contextmanager
    def race(self, user: Built, baseline: Built, job: Job) -> Iterator[Course]:
        yield Course(self, user, baseline, job)

    def launch_times(self, built: Built, job: Job, repeats: int) -> tuple[LaunchTime, ...]:
        raise AssertionError("a race needs no times of single launches")


class Course:
    """One race on the emulator: both kernels really run, on the same inputs."""

    def __init__(self, target: Clocked, user: Built, baseline: Built, job: Job) -> None:
        self._target, self._user, self._baseline, self._job = target, user, baseline, job

    def pair(self, buffers: tuple[Buffer, ...], user_first: bool) -> Pair:
        job = Job(buffers, self._job.sizes, mode="fast", timeout=self._job.timeout)
        user, baseline = (self._target.run(built, job).outputs for built in (self._user, self._baseline))
        return Pair(
            Call(self._target.ms, self._target.ms, user), Call(1.0, 1.0, baseline), user_first, clock=0
        )


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "PROFILE_LENGTH", PROFILE)


def test_our_kernel_is_judged_in_the_block_and_then_timed() -> None:
    target = Clocked(ms=0.25)
    file = kernels.path("attention/03_online.cu")
    verdict = judge(file, "online-attention", seed=7, lengths=(1, 41), target=target, pairs=30)
    assert verdict.outcome == "passed", verdict.says
    assert verdict.speed is not None
    assert verdict.speed.speedup == 4.0
    assert target.modes == {"fast"}
    within = [case for case in verdict.cases if case.family == "block"]
    assert [case.length for case in within] == [1, 41]
    assert all(list(case.tensors) == ["attention_output", "block_output"] for case in within)


def test_a_wrong_kernel_is_wrong_and_never_timed() -> None:
    file = Path(__file__).parents[1] / "wrong/attention/08-alpha-missing-on-l.cu"
    verdict = judge(file, "online-attention", seed=7, lengths=(33, 41), target=Clocked(ms=0.1), pairs=30)
    assert verdict.outcome == "wrong"
    assert verdict.race is None
    assert "alpha-missing-on-l" in [mistake.code for mistake in verdict.mistakes]
    assert {case.family for case in verdict.cases}.isdisjoint({"block"})
