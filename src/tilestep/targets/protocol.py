"""What every place that can run a submission offers."""

from __future__ import annotations

from typing import Protocol

from tilestep.program import Job, Program, Run

__all__ = ["Built", "Job", "Target"]


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
        """What a person calls it: "emulator, g++ 12.2.0, 2 cores"."""

    def available(self) -> str | None:
        """None when it is ready, else one sentence with the command that mends it."""

    def build(self, program: Program) -> Built:
        """Raises program.SubmissionError (broken) for what does not compile."""

    def run(self, built: Built, job: Job) -> Run:
        """Runs once, in a fresh process; what the submission does wrong is in the Run. Safe in threads."""
