"""A bundle's verdict beside a new one of the same text, seed and lengths."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tilestep.judge.bundle import Bundle
from tilestep.judge.evidence import SCHEMA, Asked, EvidenceError
from tilestep.judge.verdict import Verdict

CLOSE = 0.05  # speedups this near to each other are the same, whatever their intervals

JudgeAgain = Callable[[Path, Asked], Verdict]


@dataclass(frozen=True)
class Row:
    """One thing that is compared, in words. `same` is None for what this target does not judge."""

    what: str
    recorded: str
    now: str
    same: bool | None


@dataclass(frozen=True)
class Replay:
    """What came out of judging again. `target` is where: cpu, gpu or both."""

    verdict: Verdict
    target: str
    rows: tuple[Row, ...]

    @property
    def same(self) -> bool:
        return all(row.same is not False for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        rows = [vars(row) for row in self.rows]
        return {
            "schema": SCHEMA,
            "same": self.same,
            "target": self.target,
            "compared": rows,
            "verdict": self.verdict.to_json(),
        }


def replay(bundle: Bundle, judge_again: JudgeAgain, target: str | None = None) -> Replay:
    """Judges the bundle's text again, under its own name in a folder of its own, and compares.

    `target` is another one than the recorded. Raises EvidenceError for what could not be asked of this judge.
    """
    asked = replace(bundle.asked, target=target or bundle.asked.target)
    with tempfile.TemporaryDirectory(prefix="tilestep-") as folder:
        file = Path(folder) / bundle.name
        file.write_bytes(bundle.text.encode("utf-8", "surrogatepass"))
        try:
            verdict = judge_again(file, asked)
        except ValueError as error:
            raise EvidenceError(f"the bundle asks for what cannot be: {error}") from None
    return Replay(verdict, asked.target, _compare(bundle, asked, verdict.to_json()))


def _compare(bundle: Bundle, asked: Asked, now: Mapping[str, Any]) -> tuple[Row, ...]:
    was = bundle.verdict
    rows = [
        _row("outcome", str(was["outcome"]), str(now["outcome"])),
        _row("first wrong", _place(was.get("first_wrong")), _place(now["first_wrong"])),
        _row("findings", _codes(was.get("findings")), _codes(now["findings"])),
    ]
    timed = bundle.asked.target != "cpu"
    if timed or now["speed"]:
        comparable = timed and asked.target != "cpu"
        recorded, found = was.get("speed"), now["speed"]
        same = _same_speed(recorded, found) if comparable else None
        rows.append(Row("speedup", _speedup(recorded), _speedup(found), same))
    return tuple(rows)


def _row(what: str, recorded: str, now: str) -> Row:
    return Row(what, recorded, now, recorded == now)


def _place(first: Any) -> str:
    if not isinstance(first, Mapping):
        return "none"
    head = "" if first.get("head") is None else f", head {first['head']}"
    at = f"length {first.get('length')} ({first.get('family')})"
    return f"{first.get('tensor')}, {at}, row {first.get('row')}{head}, column {first.get('dim')}"


def _codes(findings: Any) -> str:
    known = findings if isinstance(findings, list) else []
    codes = {str(finding.get("code")) for finding in known if isinstance(finding, Mapping)}
    return ", ".join(sorted(codes)) or "none"


def _speedup(speed: Any) -> str:
    if not _is_speed(speed):
        return "none"
    return f"{speed['speedup']:.2f}x ({speed['low']:.2f}x to {speed['high']:.2f}x)"


def _same_speed(recorded: Any, now: Any) -> bool:
    """Whether the intervals overlap, or the speedups are within 5 %; none is the same as none."""
    if not _is_speed(recorded) or not _is_speed(now):
        return _is_speed(recorded) == _is_speed(now)
    overlap = recorded["low"] <= now["high"] and now["low"] <= recorded["high"]
    return bool(overlap or abs(now["speedup"] / recorded["speedup"] - 1.0) <= CLOSE)


def _is_speed(speed: Any) -> bool:
    """A recorded speed is checked: a bundle may hold anything."""
    if not isinstance(speed, Mapping):
        return False
    values = [speed.get(name) for name in ("speedup", "low", "high")]
    return all(type(value) in (float, int) and _positive(value) for value in values)


def _positive(value: Any) -> bool:
    try:
        return math.isfinite(float(value)) and value > 0
    except OverflowError:  # a whole number of so many digits
        return False
