"""Two verdicts on one text, beside each other."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from tilestep.judge.bundle import Bundle
from tilestep.judge.replay import Replay, Row
from tilestep.report.console import mark, show_rows, show_text

MARGIN = 16  # width of the marks and names on the left


def show_replay(recorded: Bundle, found: Replay, console: Console) -> None:
    """What is the same and what differs, and a sentence."""
    was = recorded.asked
    console.print()
    title = Text.assemble(
        (recorded.name, "bold"), "   ", ("THE SAME" if found.same else "DIFFERS", _style(found))
    )
    where = was.target if was.target == found.target else f"recorded on {was.target}, now on {found.target}"
    title.append(f"   {was.step}, seed {was.seed}, {where}", style="quiet")
    show_text(title, console)
    console.print()
    show_rows([(_label(row, console), _values(row)) for row in found.rows], console, MARGIN)
    console.print()
    show_text(Text(found.verdict.says), console)
    console.print()


def _style(found: Replay) -> str:
    return "passed" if found.same else "wrong"


def _label(row: Row, console: Console) -> Text:
    sign = (
        ("   ", "quiet")
        if row.same is None
        else (mark(console, row.same).ljust(3), "good" if row.same else "bad")
    )
    return Text.assemble(sign, (row.what, "label"))


def _values(row: Row) -> Text:
    if row.same:
        return Text(row.now) if row.recorded == row.now else Text(f"recorded {row.recorded}, now {row.now}")
    more = ", not compared" if row.same is None else ""
    return Text(f"recorded {row.recorded}, now {row.now}{more}")
