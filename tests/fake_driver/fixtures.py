"""Fixtures for tests that run on the fake driver; skipped, with the reason, where it cannot be."""

from __future__ import annotations

from collections.abc import Iterator
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
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> StandIns:
    """The device compiler of the test's targets."""
    compiler = StandIns()
    monkeypatch.setattr("tilestep.targets.gpu.target.choose", lambda builder, capability: compiler)
    return compiler


@pytest.fixture
def gpu_target(fake_card: FakeCard, stand_ins: StandIns) -> Iterator[GpuTarget]:
    """A GPU target on the fake card, closed behind the test."""
    target = GpuTarget()
    yield target
    target.close()
