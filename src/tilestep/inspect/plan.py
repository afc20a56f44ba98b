"""What a seam asks for at one length: launches in order, memsets, scratch memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tilestep.inspect.session import Session
from tilestep.program import Launch


@dataclass(frozen=True)
class PlannedLaunch:
    """A launch with its shared memory in bytes for each block: declared in the kernel, and asked for."""

    launch: Launch
    static_shared: int

    @property
    def blocks(self) -> int:
        x, y, z = self.launch.grid
        return x * y * z

    @property
    def threads(self) -> int:
        x, y, z = self.launch.block
        return x * y * z


@dataclass(frozen=True)
class Plan:
    """What `show plan` shows."""

    file: str
    step: str
    length_name: str
    length: int
    launches: tuple[PlannedLaunch, ...]
    memsets: int
    scratch_bytes: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """One document for programs."""
        return {
            "file": self.file,
            "step": self.step,
            "length": self.length,
            "launches": [
                {
                    "kernel": one.launch.kernel,
                    "line": one.launch.line,
                    "grid": list(one.launch.grid),
                    "block": list(one.launch.block),
                    "static_shared": one.static_shared,
                    "dynamic_shared": one.launch.dynamic_shared,
                }
                for one in self.launches
            ],
            "memsets": self.memsets,
            "scratch_bytes": list(self.scratch_bytes),
        }


def look_at_plan(session: Session, length: int | None) -> Plan:
    """The plan at a length, by default the longest that is judged at every value.

    A block of each launch is run, since a kernel's own shared arrays are met only then. Raises CannotLook for
    a length that the step has not, and for a run that does not finish.
    """
    chosen = max(session.subject.lengths) if length is None else length
    families = session.subject.families(chosen) if 1 <= chosen <= session.subject.longest else ("normal",)
    run = session.watched(session.case(chosen, families[0]), sample=1)
    shared = {work.launch: work.static_shared for work in run.work}
    return Plan(
        file=session.program.file,
        step=session.step.name,
        length_name=session.step.length_name,
        length=chosen,
        launches=tuple(
            PlannedLaunch(launch, shared.get(number, 0)) for number, launch in enumerate(run.plan.launches)
        ),
        memsets=run.plan.memsets,
        scratch_bytes=run.plan.scratch_bytes,
    )
