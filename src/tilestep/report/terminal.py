"""A verdict on a terminal: what is wrong first, then why, then the command that shows it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tilestep import contract
from tilestep.judge.speed import SPEED_LINES
from tilestep.judge.verdict import KvTraffic, MistakeFound, Outcome, Verdict
from tilestep.program import Finding
from tilestep.report.case_table import length_name, show_cases
from tilestep.report.console import show_rows, show_text
from tilestep.report.pages import codes

SHOWN_FINDINGS = 5
SHOWN_EVIDENCE = (
    "yours",
    "our kernels",
    "reference",
    "checkers",
    "launches",
    "pairs",
    "timed calls",
    "baseline",
    "gpu",
    "driver",
    "clocks",
    "compiler",
    "others",
)
LABEL = 14  # width of the labels on the left

Rows = list[tuple[str, Text]]


def show_verdict(
    verdict: Verdict,
    console: Console,
    lengths: Sequence[int] | None = None,
    target: str = "cpu",
    pairs: int | None = None,
) -> None:
    """Prints the whole verdict. `lengths` are what the person asked for, None for all, on this target;
    `pairs` likewise, None for the usual number."""
    console.print()
    show_text(_headline(verdict), console)
    if verdict.cases:
        console.print()
        show_cases(verdict, console)
    for rows in (
        _first_wrong(verdict),
        _mistakes(verdict.mistakes),
        _findings(verdict.findings),
        [*_traffic(verdict.traffic), *_speed(verdict), *_facts(verdict)],
    ):
        if rows:
            console.print()
            _show_rows(rows, console)
    _show_rows([("again", _again(verdict, lengths, target, pairs))], console, wrap=False)
    console.print()
    show_text(Text(verdict.says), console)
    console.print()


def _show_rows(rows: Rows, console: Console, *, wrap: bool = True) -> None:
    labelled = ((Text(label, style="label"), value) for label, value in rows)
    show_rows(labelled, console, LABEL, wrap=wrap)


def _headline(verdict: Outcome) -> Text:
    line = Text()
    about = verdict.submission
    files = about.files if about.files and verdict.outcome == "passed" else (about.file,)
    line.append(", ".join(Path(file).name for file in files), style="bold")
    line.append("   ")
    line.append(verdict.outcome.upper(), style=verdict.outcome)
    line.append("   ")
    line.append(f"{verdict.step}, {verdict.target.name}", style="quiet")
    return line


# --- what is wrong, and why ---------------------------------------------------------------------------------


def _first_wrong(verdict: Outcome) -> Rows:
    first = verdict.first_wrong
    if first is None:
        return []
    says = contract.TENSOR[first.tensor].says
    tensor = Text.assemble((first.tensor, "code"), (f"   {says}", "quiet"))
    where = f"{length_name(verdict.step)} = {first.length} ({first.family}), {first.place}"
    values = Text("yours ")
    values.append(f"{first.got:.7g}", style="wrong")
    values.append("   want ")
    values.append(f"{first.want:.7g}", style="good")
    extent = f"{first.wrong_values:,} of {first.values:,} values wrong in this case"
    return [("first wrong", tensor), ("where", Text(where)), ("", values), ("extent", Text(extent))]


def _mistakes(mistakes: tuple[MistakeFound, ...]) -> Rows:
    rows: Rows = []
    for number, mistake in enumerate(mistakes):
        title = Text.assemble((mistake.code, "code"), f"   {mistake.name}")
        rows.append(("mistake" if number == 0 else "or", title))
        rows.append(("", Text(mistake.says)))
        rows += _explain(mistake.code)
    return rows


def _findings(findings: tuple[Finding, ...]) -> Rows:
    rows: Rows = []
    for number, finding in enumerate(findings[:SHOWN_FINDINGS]):
        title = Text.assemble((finding.code, "code"))
        if finding.file:
            place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
            title.append("   ")
            title.append(place, style="place")
        rows.append(("finding" if number == 0 else "", title))
        rows.append(("", Text(finding.says)))
    if len(findings) > SHOWN_FINDINGS:
        rows.append(("", Text(f"and {len(findings) - SHOWN_FINDINGS} more: --json lists all", style="quiet")))
    for code in dict.fromkeys(finding.code for finding in findings[:SHOWN_FINDINGS]):
        rows += _explain(code)
    return rows


def _explain(code: str) -> Rows:
    return [("", Text(f"tilestep explain {code}", style="quiet"))] if code in codes() else []


# --- bytes, speed, and how to see it again ------------------------------------------------------------------


def _traffic(traffic: KvTraffic | None) -> Rows:
    if traffic is None:
        return []
    line = Text(f"{bytes_text(traffic.kv_bytes)} read at T = {traffic.length}, ")
    line.append(f"baseline {bytes_text(traffic.baseline_kv_bytes)}: ")
    line.append(f"cut {traffic.cut:.1f}x", style="good" if traffic.ok else "wrong")
    if traffic.gate is not None:
        line.append(f" (gate {traffic.gate:g}x)")
    return [("K and V", line)]


def _facts(verdict: Outcome) -> Rows:
    """The evidence that no other part of the display shows."""
    pairs = [line.split(": ", 1) for line in verdict.evidence if ": " in line]
    return [(label, Text(fact)) for label, fact in pairs if label in SHOWN_EVIDENCE]


def _speed(verdict: Outcome) -> Rows:
    """The lines of evidence that state a speed, as they are, or the one that says why there is none."""
    if verdict.target.kind == "cpu":
        return [("speed", Text("not judged here, no GPU"))]
    speed = verdict.race.speed if verdict.race else None
    met = speed is not None and (speed.gate is None or speed.low >= speed.gate)
    rows: Rows = []
    for line in verdict.evidence:
        if line.startswith(SPEED_LINES):
            rows.append(("" if rows else "speed", Text(line, style="good" if met else "wrong")))
        elif line.startswith("speed: "):
            rows.append(("speed", Text(line.removeprefix("speed: "))))
    return rows


def _again(verdict: Outcome, lengths: Sequence[int] | None, target: str, pairs: int | None) -> Text:
    files = verdict.submission.files
    words = ["tilestep", "judge"]
    words += ["--block", *files] if files else [verdict.submission.file, "--step", verdict.step]
    words += ["--seed", str(verdict.seed)]
    if lengths is not None:
        words += ["--lengths", ",".join(map(str, lengths))]
    if target != "cpu":
        words += ["--target", target]
    if pairs is not None:
        words += ["--pairs", str(pairs)]
    return Text(shlex.join(words), style="place")


def bytes_text(count: int) -> str:
    """Bytes in decimal units, three digits: 8.59 GB."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"
