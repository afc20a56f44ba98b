"""Lists on a terminal: the steps of the path, our kernels, the machine's fitness, a page of explanation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tilestep import contract, kernels
from tilestep.contract import Step
from tilestep.report.console import mark
from tilestep.report.markdown import show_markdown
from tilestep.report.pages import Page, codes, page
from tilestep.targets.doctor import Check

MARGIN = 14  # width of the marks and names on the left


def gate_text(step: Step) -> str:
    """What a step must beat, in words; "" where only values count."""
    if step.speed_gate is None:
        return ""
    return f"{step.traffic_gate:g}x fewer K/V bytes"


def steps_json() -> dict[str, Any]:
    """The steps and our kernels, for programs."""
    return {
        "steps": [
            {
                "name": step.name,
                "stage": step.stage,
                "title": step.title,
                "seam": step.seam.prototype,
                "traffic_gate": step.traffic_gate,
                "speed_gate": step.speed_gate,
                "judged": step.judged,
            }
            for step in contract.STEPS
        ],
        "kernels": [
            {"name": name, "file": str(kernels.path(name)), "idea": kernels.idea(name)}
            for name in kernels.names()
        ],
    }


def show_steps(console: Console) -> None:
    """The steps in order of stage, then our kernels with their ideas."""
    table = _table("", "step", "title", "gate")
    for step in contract.STEPS:
        style = "" if step.judged else "quiet"
        gate = gate_text(step) if step.judged else "not judged yet"
        table.add_row(str(step.stage), Text(step.name, style=style or "code"), step.title, gate, style=style)
    console.print()
    console.print(table)
    rungs = _table("kernel", "idea")
    for name in kernels.names():
        rungs.add_row(Text(name, style="code"), kernels.idea(name))
    console.print()
    console.print(rungs)
    console.print()
    console.print(Text(f"the kernels are in {kernels.root()}", style="quiet"), soft_wrap=True)


def show_checks(checks: Iterable[Check], console: Console) -> None:
    """What this machine has, and the command that mends what it lacks."""
    console.print()
    for check in checks:
        sign = Text(mark(console, check.ok).ljust(3), style="good" if check.ok else "bad")
        says = Text(check.says)
        if not check.ok and check.mend:
            says.append(f"\n{check.mend}", style="place")
        for number, line in enumerate(says.wrap(console, console.width - MARGIN)):
            line.rstrip()
            margin = Text.assemble(sign, (check.name.ljust(MARGIN - 3), "code"))
            console.print(margin + line if number == 0 else Text(" " * MARGIN) + line)
    console.print()


def checks_json(checks: Iterable[Check]) -> dict[str, Any]:
    """The same for programs."""
    return {"checks": [{"name": c.name, "ok": c.ok, "says": c.says, "mend": c.mend} for c in checks]}


def show_page(found: Page, console: Console) -> None:
    """One page of explanation."""
    console.print()
    show_markdown(found.text, console)
    console.print()


def show_codes(console: Console) -> None:
    """All codes with the titles of their pages."""
    table = _table("code", "")
    for code in codes():
        table.add_row(Text(code, style="code"), page(code).title)
    console.print()
    console.print(table)


def _table(*headers: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="quiet")
    for header in headers:
        table.add_column(header, overflow="fold")
    return table
