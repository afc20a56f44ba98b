"""A verdict on a terminal: what is wrong first, then why, then the command that shows it again."""

from __future__ import annotations

import math
import shlex
from pathlib import Path

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tilestep import contract
from tilestep.judge.verdict import CaseResult, FirstWrong, KvTraffic, MistakeFound, Outcome, Verdict
from tilestep.program import Finding
from tilestep.report.console import mark
from tilestep.report.pages import codes

SHOWN_FINDINGS = 8
LABEL = 14  # columns of the labels on the left


def show_verdict(verdict: Verdict, console: Console) -> None:
    """Prints the whole verdict."""
    console.print()
    console.print(_headline(verdict))
    if verdict.cases:
        console.print()
        console.print(_cases(verdict.cases, console))
    blocks: list[list[tuple[str, RenderableType]]] = [
        _first_wrong(verdict.first_wrong),
        _mistakes(verdict.mistakes),
        _findings(verdict.findings),
        [*_traffic(verdict.traffic), *_speed(verdict), ("again", _again(verdict))],
    ]
    for rows in blocks:
        if rows:
            console.print()
            console.print(_rows(rows))
    console.print()
    console.print(Text(verdict.says))
    console.print()


def _headline(verdict: Outcome) -> RenderableType:
    line = Text()
    line.append(Path(verdict.submission.file).name, style="bold")
    line.append("   ")
    line.append(verdict.outcome.upper(), style=verdict.outcome)
    line.append("   ")
    line.append(f"{verdict.step}, {verdict.target.name}", style="quiet")
    return line


# --- lengths and families -----------------------------------------------------------------------------------


def _cases(cases: tuple[CaseResult, ...], console: Console) -> RenderableType:
    """A row for each length, a column for each family: the largest error as a share of its tolerance."""
    families = list(dict.fromkeys(case.family for case in cases))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="quiet")
    table.add_column("T", justify="right", min_width=5)
    for family in families:
        table.add_column(family, justify="right", min_width=8)
    by_place = {(case.length, case.family): case for case in cases}
    for length in sorted({case.length for case in cases}):
        cells = [_cell(by_place.get((length, family)), console) for family in families]
        table.add_row(str(length), *cells)
    grid = Table.grid()
    grid.add_row(table)
    grid.add_row(Text("largest error / tolerance of each case; above 1 is wrong", style="quiet"))
    return grid


def _cell(case: CaseResult | None, console: Console) -> Text:
    if case is None:
        return Text("")
    if case.ok:
        return Text(f"{case.ratio:.3f} " + " ", style="good")
    return Text(f"{ratio_text(case.ratio)} {mark(console, False)}", style="wrong")


def ratio_text(ratio: float) -> str:
    """A ratio of a wrong value, short: 3.2, 540, 7e+05, nan."""
    if math.isnan(ratio):
        return "nan"
    if math.isinf(ratio):
        return "inf"
    if ratio < 10:
        return f"{ratio:.2f}"
    return f"{ratio:.0f}" if ratio < 10_000 else f"{ratio:.0e}"


# --- what is wrong, and why ---------------------------------------------------------------------------------

Rows = list[tuple[str, RenderableType]]


def _first_wrong(first: FirstWrong | None) -> Rows:
    if first is None:
        return []
    tensor = Text(first.tensor, style="code")
    tensor.append(f"   {contract.TENSOR[first.tensor].says}", style="quiet")
    head = "" if first.head is None else f", head {first.head}"
    where = f"T = {first.length} ({first.family}), row {first.row}{head}, dim {first.dim}"
    values = Text("yours ")
    values.append(f"{first.got:.7g}", style="wrong")
    values.append("   want ")
    values.append(f"{first.want:.7g}", style="good")
    extent = f"{first.wrong_values:,} of {first.values:,} values wrong in this case"
    return [("first wrong", tensor), ("where", Text(where)), ("", values), ("extent", Text(extent))]


def _mistakes(mistakes: tuple[MistakeFound, ...]) -> Rows:
    rows: Rows = []
    for number, mistake in enumerate(mistakes):
        title = Text(mistake.code, style="code")
        title.append(f"   {mistake.name}")
        rows.append(("mistake" if number == 0 else "or", title))
        rows.append(("", Text(mistake.says)))
        rows.append(("", _explain(mistake.code)))
    return rows


def _findings(findings: tuple[Finding, ...]) -> Rows:
    rows: Rows = []
    for number, finding in enumerate(findings[:SHOWN_FINDINGS]):
        title = Text(finding.code, style="code")
        if finding.file:
            place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
            title.append("   ")
            title.append(place, style="place")
        if finding.count > 1:
            title.append(f"   {finding.count:,} times", style="quiet")
        rows.append(("finding" if number == 0 else "", title))
        rows.append(("", Text(finding.says)))
    if len(findings) > SHOWN_FINDINGS:
        rows.append(("", Text(f"and {len(findings) - SHOWN_FINDINGS} more: --json lists all", style="quiet")))
    for code in dict.fromkeys(finding.code for finding in findings[:SHOWN_FINDINGS]):
        rows.append(("", _explain(code)))
    return [row for row in rows if str(row[1])]


def _explain(code: str) -> Text:
    return Text(f"tilestep explain {code}" if code in codes() else "", style="quiet")


# --- bytes, speed, and how to see it again ------------------------------------------------------------------


def _traffic(traffic: KvTraffic | None) -> Rows:
    if traffic is None:
        return []
    line = Text(f"{bytes_text(traffic.kv_bytes)} of K and V at T = {traffic.length}; ")
    line.append(f"baseline {bytes_text(traffic.baseline_kv_bytes)}: ")
    line.append(f"{traffic.cut:.1f}x less", style="good" if traffic.ok else "wrong")
    if traffic.gate is not None:
        line.append(f", gate {traffic.gate:g}x")
    return [("moved", line)]


def _speed(verdict: Verdict) -> Rows:
    return [("speed", Text("not judged here, no GPU"))] if verdict.target.kind == "cpu" else []


def _again(verdict: Outcome) -> Text:
    lengths = sorted({case.length for case in verdict.cases})
    words = [
        "tilestep",
        "judge",
        verdict.submission.file,
        "--step",
        verdict.step,
        "--seed",
        str(verdict.seed),
    ]
    usual = {*contract.LENGTHS, contract.PROFILE_LENGTH}
    if not set(lengths) <= usual or (verdict.exit_code == 0 and set(lengths) != usual):
        words += ["--lengths", ",".join(map(str, lengths))]
    return Text(shlex.join(words), style="place")


def bytes_text(count: int) -> str:
    """Bytes in decimal units, three digits: 8.59 GB."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def _rows(rows: Rows) -> RenderableType:
    """Labels on the left, what they label on the right, wrapped in its own column."""
    grid = Table.grid(padding=(0, 0))
    grid.add_column(width=LABEL, style="label")
    grid.add_column(overflow="fold")
    for label, value in rows:
        grid.add_row(label, value)
    return Padding(grid, (0, 0))
