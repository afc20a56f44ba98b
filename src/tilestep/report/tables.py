"""Lists on a terminal: our kernels, the machine's fitness, a page of explanation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

from tilestep import contract, kernels
from tilestep.contract import Step
from tilestep.report.console import mark, show_rows
from tilestep.report.markdown import show_markdown
from tilestep.report.pages import Page, codes, page
from tilestep.subjects import registered
from tilestep.targets.doctor import Check

MARGIN = 14  # width of the marks and names on the left


def gate_text(step: Step) -> str:
    """What a step must beat, in words; "" where only values count."""
    if step.speed_gate is None:
        return ""
    return f"{step.traffic_gate:g}x fewer K/V bytes; on a GPU {step.speed_gate:g}x the speed"


def steps_json() -> dict[str, Any]:
    """The steps and our kernels, for programs."""
    return {
        "steps": [
            {
                "name": step.name,
                "path": step.path,
                "number": step.number,
                "title": step.title,
                "seam": step.seam.prototype,
                "traffic_gate": step.traffic_gate,
                "speed_gate": step.speed_gate,
                "judged": step.name in registered(),
            }
            for step in contract.STEPS
        ],
        "kernels": [
            {"name": name, "file": str(kernels.path(name)), "idea": kernels.idea(name)}
            for name in kernels.names()
        ],
    }


def show_kernels(console: Console) -> None:
    """Our kernels with their ideas."""
    console.print()
    margin = max(len(name) for name in kernels.names()) + 2
    rungs = ((Text(name, style="code"), Text(kernels.idea(name))) for name in kernels.names())
    show_rows(rungs, console, margin)
    console.print()
    console.print(Text(f"the kernels are in {kernels.root()}", style="quiet"), soft_wrap=True)


def step_says(step: Step) -> Text:
    """A step's title, with the gate that it has."""
    if step.name not in registered():
        return Text(f"{step.title} (not judged yet)", style="quiet")
    gate = gate_text(step)
    return Text(f"{step.title}; gate: {gate}" if gate else step.title)


def show_checks(checks: Iterable[Check], console: Console) -> None:
    """What this machine has, and the command that mends what it lacks."""
    console.print()
    for check in checks:
        sign = (mark(console, check.ok).ljust(3), "good" if check.ok else "bad")
        says = Text(check.says)
        if not check.ok and check.mend and check.mend not in check.says:
            says.append(f"\n{check.mend}", style="place")
        show_rows([(Text.assemble(sign, (check.name, "code")), says)], console, MARGIN)
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
    console.print()
    margin = max((len(code) for code in codes()), default=0) + 2
    show_rows(((Text(code, style="code"), Text(page(code).title)) for code in codes()), console, margin)
