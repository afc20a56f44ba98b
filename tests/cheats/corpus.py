"""The cheats of this folder: a submission each, and beside it the record of what a judge may make of it.

A record holds `number`, the numbers in the list of known ways to fool a judge that README.md explains (none:
a way of our own), `cheat`, the step, and for each target the outcomes that it may have. `says` is a part of
the sentence. `lengths` is where it is judged, "own" meaning the step's; `honest` says why one may pass that
does what was asked; `race` says that only timed calls show it, `endless` that a GPU's watchdog has to.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilestep.contract import STEP

HERE = Path(__file__).parent
KNOWN = 46  # cheats in the list
_USUAL = {"attention": (1, 41, 97), "block-sum": (1, 33, 200)}


@dataclass(frozen=True, eq=False)
class Cheat:
    """A submission that tries to fool the judge, and its record."""

    file: Path
    record: dict[str, Any]

    @property
    def step(self) -> str:
        return str(self.record["step"])

    @property
    def lengths(self) -> tuple[int, ...] | None:
        """What it is judged at; None for the step's own."""
        given = self.record.get("lengths", _USUAL.get(STEP[self.step].kernels))
        return None if given == "own" else tuple(given)

    def outcomes(self, target: str) -> set[str]:
        """What the verdict on a target, cpu or gpu, may be."""
        return set(self.record[target]["outcome"])

    def __str__(self) -> str:
        return self.file.stem


def cheats() -> tuple[Cheat, ...]:
    """All of them, in the order of their names."""
    return tuple(
        Cheat(file, json.loads(file.with_suffix(".json").read_text(encoding="utf-8")))
        for file in sorted(HERE.glob("*.cu"))
    )
