"""How a trial's runs reach the target: as they come, or on a card one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from tilestep.program import Job, Run
from tilestep.targets.protocol import Built, Target, TimingTarget

CANCELLED = "cancelled"  # how a run ended that was not begun


def runner(target: Target, built: Built) -> Callable[[Job], Run]:
    """What runs a job of this program; safe in threads."""
    if target.checks or not isinstance(target, TimingTarget):
        return lambda job: target.run(built, job)
    return _OnCard(target, built).run


class _OnCard:
    """Plans are recorded side by side. On the card no run begins after one that did not finish there, since
    each may take its whole time limit."""

    def __init__(self, target: Target, built: Built) -> None:
        self._target = target
        self._built = built
        self._turn = threading.Lock()
        self._failed = False

    def run(self, job: Job) -> Run:
        recorded = self._target.run(self._built, replace(job, mode="record"))  # which the target keeps
        if recorded.ended != "finished":
            return recorded
        with self._turn:
            if self._failed:
                return Run(CANCELLED)
            run = self._target.run(self._built, job)
            self._failed = run.ended != "finished"
            return run
