"""Whether a ladder shows everybody at every usual length, and under which name one is kept that does not."""

from __future__ import annotations

from pathlib import Path

from tilestep.bench.contenders import PEER, everyone
from tilestep.bench.ladder import MEASURED, MISSING, REFUSED, WRONG, Ladder, Row
from tilestep.bench.run import LENGTHS, Plan

# In a file's name, so that no part of a ladder takes the place of a whole one of the same day.
PARTIAL = "partial"  # its run is not over, or has failed somewhere
SELECTION = "selection"  # of contenders or lengths: more was not asked for


def gaps(ladder: Ladder) -> tuple[str, ...]:
    """Who is not shown at which of the usual lengths, and why, a line each; nothing for a whole ladder.

    A peer that is not installed, or refuses, is shown by the reason. A rung has no excuse.
    """
    rows = {(row.name, row.length): row for row in ladder.rows}
    found: dict[tuple[str, str], list[int]] = {}
    for contender in everyone():
        for length in LENGTHS:
            if why := _gap(rows.get((contender.name, length))):
                found.setdefault((contender.name, why), []).append(length)
    return tuple(
        f"{name} at T = {', '.join(map(str, lengths))}: {why}" for (name, why), lengths in found.items()
    )


def _gap(row: Row | None) -> str:
    """Why a row shows nothing, "" for one that does."""
    if row is None:
        return "not measured"
    excused = row.kind == PEER and row.outcome in (MISSING, REFUSED) and row.reason
    return "" if row.outcome in (MEASURED, WRONG) or excused else f"{row.outcome}: {row.reason}"


class Keeper:
    """Writes a run's document into a folder. Only a whole one gets the name without a mark."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self._folder = folder
        all_asked = {one.name for one in everyone()} <= {one.name for one in plan.contenders}
        self._marks = () if all_asked and set(LENGTHS) <= set(plan.lengths) else (SELECTION,)
        self._draft: Path | None = None

    def keep(self, ladder: Ladder) -> Path:
        """What is there so far, as a draft that stays if the run is ended. Raises OSError."""
        self._draft = ladder.save(self._folder, *self._marks, PARTIAL)
        return self._draft

    def finish(self, ladder: Ladder) -> Path:
        """All of it, in the draft's place. Raises OSError."""
        if not self._marks and gaps(ladder):
            return self.keep(ladder)
        path = ladder.save(self._folder, *self._marks)
        if self._draft is not None:
            self._draft.unlink(missing_ok=True)
        return path
