"""A bundle's verdict beside a new one of the same text, seed and lengths."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tilestep.judge.bundle import Bundle, Recorded, Speedup, WrongPlace
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
    return Replay(verdict, asked.target, _compare(bundle, asked, _now(verdict)))


def _now(verdict: Verdict) -> Recorded:
    first, speed = verdict.first_wrong, getattr(verdict, "speed", None)
    return Recorded(
        verdict.outcome,
        WrongPlace(first.tensor, first.length, first.family, first.row, first.head, first.dim)
        if first
        else None,
        tuple(sorted({finding.code for finding in verdict.findings})),
        Speedup(speed.speedup, speed.low, speed.high) if speed else None,
    )


def _compare(bundle: Bundle, asked: Asked, now: Recorded) -> tuple[Row, ...]:
    was = bundle.verdict
    rows = [
        _row("outcome", was.outcome, now.outcome),
        _row("first wrong", _place(was.first_wrong), _place(now.first_wrong)),
        _row("findings", _codes(was.findings), _codes(now.findings)),
    ]
    timed = bundle.asked.target != "cpu"
    if timed or now.speed:
        comparable = timed and asked.target != "cpu"
        same = _same_speed(was.speed, now.speed) if comparable else None
        rows.append(Row("speedup", _speedup(was.speed), _speedup(now.speed), same))
    return tuple(rows)


def _row(what: str, recorded: str, now: str) -> Row:
    return Row(what, recorded, now, recorded == now)


def _place(first: WrongPlace | None) -> str:
    if first is None:
        return "none"
    head = "" if first.head is None else f", head {first.head}"
    at = f"length {first.length} ({first.family})"
    return f"{first.tensor}, {at}, row {first.row}{head}, column {first.dim}"


def _codes(findings: tuple[str, ...]) -> str:
    return ", ".join(findings) or "none"


def _speedup(speed: Speedup | None) -> str:
    return f"{speed.speedup:.2f}x ({speed.low:.2f}x to {speed.high:.2f}x)" if speed else "none"


def _same_speed(recorded: Speedup | None, now: Speedup | None) -> bool:
    """Whether the intervals overlap, or the speedups are within 5 %; none is the same as none."""
    if recorded is None or now is None:
        return recorded is now
    overlap = recorded.low <= now.high and now.low <= recorded.high
    return overlap or abs(now.speedup / recorded.speedup - 1.0) <= CLOSE
