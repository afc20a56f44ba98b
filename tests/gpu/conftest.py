"""Tests that need an NVIDIA GPU: `python -m pytest tests/gpu` runs them and writes a record of what it saw.

Elsewhere each is skipped with the sentence that says what is missing. `-m "not slow"` is the core alone.
The record is benchmarks/results/gpu-tests-CARD-DATE.json, or the file that TILESTEP_GPU_RECORD names.
"""

from __future__ import annotations

import datetime
import functools
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from gpu_judging import Wanted, judge_all, open_pool

from tilestep.bench.machine import card_in_a_file_name, commit
from tilestep.judge import gathered, trial
from tilestep.judge.expect import Expectations
from tilestep.judge.trusted import TrustedKernels
from tilestep.targets.gpu import GpuTarget

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SEED = 6  # fixed, so that what is right is computed once
ALONE = "times are measured on a machine that does nothing else: python -m pytest tests/gpu"
LONGEST = 600  # characters of a failure in the record


@dataclass
class Seen:
    """What the tests of this folder did, for the record; `measured` holds the figures that they took."""

    began: float = field(default_factory=time.monotonic)
    outcomes: Counter[str] = field(default_factory=Counter)
    failed: list[dict[str, str]] = field(default_factory=list)
    measured: dict[str, Any] = field(default_factory=dict)


_SEEN = pytest.StashKey[Seen]()
_TARGET = pytest.StashKey[GpuTarget]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: not in the core of the GPU tests")
    config.stash[_SEEN] = Seen()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mine = [item for item in items if HERE in item.path.parents]
    if not mine or config.option.collectonly:
        return
    target = GpuTarget()
    missing = ALONE if hasattr(config, "workerinput") else target.available()
    if missing is None:
        config.stash[_TARGET] = target
        return
    for item in mine:
        item.add_marker(pytest.mark.skip(reason=missing))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report: Any = yield
    seen = item.config.stash[_SEEN]
    if report.when == "call" or not report.passed:
        seen.outcomes[report.outcome] += 1
        if report.failed:
            says = getattr(getattr(report.longrepr, "reprcrash", None), "message", str(report.longrepr))
            seen.failed.append({"name": item.nodeid, "says": says[:LONGEST]})
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    target = session.config.stash.get(_TARGET, None)
    if target is not None and not hasattr(session.config, "workerinput"):
        _write_record(target, session.config.stash[_SEEN])


def _write_record(target: GpuTarget, seen: Seen) -> None:
    card = target.card
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    record = {
        "date": today,
        "card": card.name,
        "driver": card.driver,
        "compiler": card.compiler,
        "commit": commit() or "unknown",
        "seconds": round(time.monotonic() - seen.began, 1),
        "passed": seen.outcomes["passed"],
        "failed": seen.outcomes["failed"],
        "skipped": seen.outcomes["skipped"],
        "failed_tests": seen.failed,
        "measured": seen.measured,
    }
    usual = ROOT / "benchmarks/results" / f"gpu-tests-{card_in_a_file_name(card.name)}-{today}.json"
    path = Path(os.environ.get("TILESTEP_GPU_RECORD") or usual)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


# --- what the tests are given -------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def target(request: pytest.FixtureRequest) -> GpuTarget:
    """The GPU: one worker for all values."""
    return request.config.stash[_TARGET]


@pytest.fixture(scope="session")
def measured(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Figures for the record, of JSON types."""
    return request.config.stash[_SEEN].measured


@pytest.fixture(scope="session")
def ours(target: GpuTarget) -> TrustedKernels:
    """Our kernels of the block, compiled."""
    trusted = TrustedKernels(target)
    trusted.build_all()
    return trusted


@pytest.fixture(scope="session", autouse=True)
def _made_once() -> Iterator[None]:
    """What is right depends on step and seed only, our own kernels on nothing: both are made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gathered, "Expectations", functools.cache(Expectations))
        patch.setattr(trial, "TrustedKernels", functools.cache(TrustedKernels))
        yield


@pytest.fixture(scope="session")
def judged(target: GpuTarget) -> Iterator[Callable[[Sequence[Any]], dict[Path, Any]]]:
    """Judges kernels, each with file, step and lengths, several at once; a set is judged once."""
    with open_pool() as pool:

        @functools.cache
        def corpus(kernels: tuple[Any, ...]) -> dict[Path, Any]:
            return judge_all(pool, [Wanted(k.file, k.step, k.lengths, SEED) for k in kernels])

        yield lambda kernels: corpus(tuple(kernels))
