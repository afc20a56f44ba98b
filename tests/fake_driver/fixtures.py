"""Fixtures for tests that run on the fake driver; skipped, with the reason, where it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fake_driver import building
from fake_driver.card import FakeCard
from fake_driver.compiler import StandIns
from tilestep.targets.gpu import GpuTarget


@pytest.fixture
def fake_card(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeCard:
    """A card for the workers that the test starts."""
    if reason := building.missing():
        pytest.skip(reason)
    return FakeCard(monkeypatch, tmp_path)


@pytest.fixture
def stand_ins() -> StandIns:
    """The device compiler of the test's targets."""
    return StandIns()


@pytest.fixture
def open_target(fake_card: FakeCard, stand_ins: StandIns) -> Iterator[Callable[[], GpuTarget]]:
    """Opens GPU targets on the fake card as it is described then; they are closed behind the test."""
    opened: list[GpuTarget] = []

    def make() -> GpuTarget:
        opened.append(GpuTarget(compiler=lambda builder, capability: stand_ins))
        return opened[-1]

    yield make
    for target in opened:
        target.close()


@pytest.fixture
def gpu_target(open_target: Callable[[], GpuTarget]) -> GpuTarget:
    """A GPU target on the fake card."""
    return open_target()
