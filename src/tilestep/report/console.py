"""The consoles that everything is drawn on: standard output for answers, standard error for the rest."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.theme import Theme

WIDEST = 100  # a line longer than this is hard to read

THEME = Theme(
    {
        "passed": "bold green",
        "wrong": "bold red",
        "unsafe": "bold magenta",
        "slow": "bold yellow",
        "inconclusive": "bold yellow",
        "refused": "bold red",
        "broken": "bold red",
        "unavailable": "bold yellow",
        "label": "dim",
        "bad": "red",
        "good": "green",
        "quiet": "dim",
        "code": "bold",
        "place": "cyan",
    }
)


def stdout(width: int | None = None) -> Console:
    """Standard output. Colour only on a terminal, and not if NO_COLOR is set."""
    return _console(stderr=False, width=width)


def stderr() -> Console:
    """Standard error, for progress and for the one sentence that says why there is no answer."""
    return _console(stderr=True, width=None)


def _console(*, stderr: bool, width: int | None) -> Console:
    console = Console(theme=THEME, highlight=False, emoji=False, markup=False, stderr=stderr, width=width)
    if width is None:
        console.width = min(console.width, WIDEST)
    return console


def mark(console: Console, good: bool) -> str:
    """A mark for yes and no that the console's encoding can show."""
    can = (console.encoding or sys.getdefaultencoding()).lower().startswith("utf")
    if good:
        return "✓" if can else "ok"
    return "✗" if can else "x"
