"""The cases of a verdict as a table: largest errors over their tolerances."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from tilestep import contract
from tilestep.judge.timed import TIMED
from tilestep.judge.verdict import CaseResult, Outcome
from tilestep.report.console import mark
from tilestep.subjects import subject

NARROWEST = 12  # a column; wider where a heading is
LEGEND = "largest error / tolerance of each case; above 1 is wrong"

Cell = tuple[float, bool] | None  # the ratio, and whether it is right
Row = tuple[str, Sequence[Cell]]


def length_name(step: str) -> str:
    """What the length of a case is called; the whole block, which is no step, has tokens."""
    return contract.STEP[step].length_name if step in contract.STEP else "T"


def show_cases(verdict: Outcome, console: Console) -> None:
    """A row for each length and a column for each family; for the whole block a row for each tensor."""
    if verdict.step in contract.STEP:
        _families(verdict, console)
    else:
        _tensors(verdict.cases, console)
    console.print(Text(LEGEND, style="quiet"))


def _families(verdict: Outcome, console: Console) -> None:
    shown = {case.family for case in verdict.cases}
    known = subject(verdict.step).family_names
    families = [family for family in known if family in shown]
    families += sorted(f for f in shown.difference(known) if not f.startswith(TIMED))  # the whole block
    by_place = {(case.length, case.family): (case.ratio, case.ok) for case in verdict.cases}
    lengths = sorted({case.length for case in verdict.cases})
    label = length_name(verdict.step)
    left = max(len(label), 5)
    rows = [(str(n).rjust(left), [by_place.get((n, family)) for family in families]) for n in lengths]
    _show(label.rjust(left), families, rows, console)


def _tensors(cases: Sequence[CaseResult], console: Console) -> None:
    ordered = sorted(cases, key=lambda case: case.length)
    names = [t.name for t in contract.BLOCK_TENSORS if any(t.name in case.tensors for case in ordered)]
    left = max(map(len, names), default=0)
    rows: list[Row] = []
    for name in names:
        results = [case.tensors.get(name) for case in ordered]
        rows.append((name.ljust(left), [(r.ratio, r.ok) if r else None for r in results]))
    _show(" " * left, [f"T = {case.length}" for case in ordered], rows, console)


def _show(corner: str, headings: Sequence[str], rows: Sequence[Row], console: Console) -> None:
    """The labels on the left, the corner among them, are of one width."""
    width = max(NARROWEST, *(len(heading) + 2 for heading in headings))
    console.print(Text(corner + "".join(heading.rjust(width) for heading in headings), style="quiet"))
    for label, cells in rows:
        line = Text(label)
        for cell in cells:
            line.append(_cell(cell, width, console))
        line.rstrip()
        console.print(line)


def _cell(cell: Cell, width: int, console: Console) -> Text:
    if cell is None:
        return Text(" " * width)
    ratio, ok = cell
    if ok:
        return Text(f"{ratio:.3f}".rjust(width), style="good")
    return Text(f"{mark(console, False)} {ratio_text(ratio)}".rjust(width), style="wrong")


def ratio_text(ratio: float) -> str:
    """A ratio of a wrong value, short: 3.2, 540, 7e+06, nan."""
    if math.isnan(ratio):
        return "nan"
    if math.isinf(ratio):
        return "inf"
    if ratio < 10:
        return f"{ratio:.2f}"
    return f"{ratio:.0f}" if ratio < 1000 else f"{ratio:.0e}"
