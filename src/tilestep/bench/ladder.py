"""What was measured: a row for each contender and length, and the machine that it was measured on."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from tilestep.bench.floor import Peaks
from tilestep.bench.machine import card_in_a_file_name

SCHEMA = 1
MEASURED, WRONG, REFUSED, MISSING, FAILED = "measured", "wrong", "refused", "missing", "failed"


@dataclass(frozen=True)
class Row:
    """One contender at one length. Times in milliseconds; what was not measured is None, with the reason.

    `outcome` is measured, wrong (a rung out of the judge's tolerance, a peer that computes something else),
    refused (the peer takes no such values), missing (not installed) or failed. `error` is |out - ref| / |ref|
    over the whole output against float64, `over_tolerance` the largest error of an element over the judge's
    fp32 tolerance; either is None for an output that holds a NaN or an infinity. `how` says how a peer was
    called, where that needs saying.
    """

    name: str
    title: str
    kind: str
    precision: str
    length: int
    outcome: str
    reason: str = ""
    how: str = ""
    median_ms: float | None = None
    low_ms: float | None = None  # the quartiles of the rounds
    high_ms: float | None = None
    rounds: int = 0
    replays: int = 0  # in each round
    tflops: float | None = None
    floor_ms: float = 0.0
    bound: str = "unknown"
    of_floor: float | None = None
    error: float | None = None
    over_tolerance: float | None = None
    l2: str = "cold"
    overhead_ms: float | None = None  # of a graph that does next to nothing, timed in the same way
    late: int = 0  # replays, of all rounds, that the host queued too late: they may hold a gap of its own
    clock: int = 0  # the lowest of the multiprocessors right after a round, MHz; 0: unknown
    lowered: str = ""  # why the clock was lowered, in how many rounds so ever
    lowered_rounds: int = 0


@dataclass(frozen=True)
class Ladder:
    """A whole run of the bench.

    `versions` is by package; `absent` says what is not installed, how to get it, and whom that keeps out.
    """

    date: str
    gpu: str
    driver: str
    seed: int
    peaks: Peaks
    versions: Mapping[str, str] = field(default_factory=dict)
    commit: str | None = None
    compiler: str = ""
    method: str = ""
    rows: tuple[Row, ...] = ()
    absent: tuple[str, ...] = ()

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(sorted({row.length for row in self.rows}))

    def at(self, length: int) -> tuple[Row, ...]:
        """The rows of a length, in the ladder's order."""
        return tuple(row for row in self.rows if row.length == length)

    def to_json(self) -> dict[str, Any]:
        """One document for programs."""
        return {"schema": SCHEMA, **asdict(self)}

    @staticmethod
    def from_json(document: Any) -> Ladder:
        """Raises ValueError for what is no ladder."""
        if not isinstance(document, dict) or document.get("schema") != SCHEMA or "rows" not in document:
            raise ValueError(f"this is no ladder of schema {SCHEMA}")
        try:
            known = {one.name for one in fields(Ladder)}
            plain = {name: value for name, value in document.items() if name in known}
            plain["peaks"] = Peaks(**plain["peaks"])
            plain["rows"] = tuple(Row(**row) for row in plain["rows"])
            plain["absent"] = tuple(plain.get("absent", ()))
            return Ladder(**plain)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"this is no ladder of schema {SCHEMA}: {error}") from None

    def file_name(self, *marks: str) -> str:
        """ladder-CARD-DATE.json, without blanks; `marks` follow the date."""
        return "-".join(["ladder", card_in_a_file_name(self.gpu), self.date, *marks]) + ".json"

    def save(self, folder: Path, *marks: str) -> Path:
        """Writes the document into a folder, whole or not at all. Raises OSError."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.file_name(*marks)
        draft = path.with_suffix(f".{os.getpid()}.part")
        try:
            draft.write_text(json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n", encoding="utf-8")
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        return path


def load(path: Path) -> Ladder:
    """A saved ladder. Raises OSError, and ValueError for what is none."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ValueError("this is no JSON") from None
    return Ladder.from_json(document)
