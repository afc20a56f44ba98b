"""The evidence bundle: all that a verdict rests on, in one JSON file that can be judged again."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tilestep import __version__, destination
from tilestep.judge.speed import RaceRecord, TimedPair
from tilestep.judge.verdict import Verdict

SCHEMA = 1
_PARTS = ("tilestep", "submission", "asked", "verdict")  # a verdict alone has no tilestep and no asked


class EvidenceError(Exception):
    """A bundle that cannot be written, or is none: one sentence, which names the file."""


@dataclass(frozen=True)
class Asked:
    """How a verdict was asked for. `lengths` is None for the step's own; `target` is cpu, gpu or both."""

    step: str
    seed: int
    lengths: tuple[int, ...] | None
    profile: bool
    target: str
    pairs: int
    fail_fast: bool = False


def check_writable(place: str | Path, judged: Iterable[str | Path]) -> Path:
    """The path of a bundle on `judged`. Raises EvidenceError if none could be written there, or something
    else would be lost: better before an hour than after it."""
    try:
        return destination.check(place, "the evidence", is_bundle, judged)
    except destination.DestinationError as error:
        raise EvidenceError(str(error)) from None


def is_bundle(data: bytes) -> bool:
    """Whether a file's bytes are a bundle that `write` wrote."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("schema") == SCHEMA and set(_PARTS) <= set(document)


def write(path: Path, verdict: Verdict, asked: Asked) -> None:
    """Writes the bundle of a verdict, whole or not at all. Raises EvidenceError, also for a file that is no
    longer what was judged, and for a place that has become another since it was checked."""
    text = json.dumps(bundle(verdict, asked), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    data = text.encode("utf-8", "backslashreplace")  # a file's name may hold what is no UTF-8
    check_writable(path, [verdict.submission.file])
    try:
        destination.write(path, data)
    except destination.DestinationError as error:
        raise EvidenceError(str(error)) from None


def bundle(verdict: Verdict, asked: Asked) -> dict[str, Any]:
    """The bundle, of JSON types only. Raises EvidenceError where the file's text cannot be had."""
    about, race = verdict.submission, verdict.race
    return {
        "schema": SCHEMA,
        "tilestep": __version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "submission": {"file": about.file, "sha256": about.sha256, "text": _text(verdict)},
        "asked": {**dataclasses.asdict(asked), "lengths": asked.lengths and list(asked.lengths)},
        "card": race and dataclasses.asdict(race.card),
        "baseline": race and {"name": race.baseline, "sha256": race.baseline_sha256},
        "race": race and _race(race),
        "verdict": verdict.to_json(),
    }


def _text(verdict: Verdict) -> str:
    """The judged file as it is, line ends and all."""
    about = verdict.submission
    if not about.sha256:
        raise EvidenceError(f"{about.file}: there is no evidence of a file that cannot be read")
    try:
        data = Path(about.file).read_bytes()
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise EvidenceError(f"{about.file}: there is no evidence of a file that cannot be read") from None
    if hashlib.sha256(data).hexdigest() != about.sha256:
        raise EvidenceError(f"{about.file} has changed since it was judged: no evidence is written")
    return text


def _race(race: RaceRecord) -> dict[str, Any]:
    return {
        "length": race.length,
        "floor_ms": race.floor_ms,
        "alarm": race.alarm,
        "entropy": race.entropy,
        "pairs": [_pair(pair) for pair in race.pairs],
    }


def _pair(pair: TimedPair) -> dict[str, Any]:
    """A time that could not be read is null."""
    fields = dataclasses.asdict(pair)
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in fields.items()
    }
