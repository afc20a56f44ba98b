"""The consoles that everything is drawn on: standard output for answers, standard error for the rest."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.console import Console
from rich.containers import Lines
from rich.text import Text
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


def show_text(text: Text, console: Console) -> None:
    """Prints a paragraph, wrapped, with no blanks at the ends of its lines."""
    for line in _wrap(text, console, console.width):
        line.rstrip()
        console.print(line, soft_wrap=True)


def say(sentence: str) -> None:
    """A sentence on standard error: wrapped on a terminal, elsewhere one line, which programs read."""
    console = stderr()
    if console.is_terminal:
        show_text(Text(sentence), console)
    else:
        console.print(Text(sentence), soft_wrap=True)


def _wrap(text: Text, console: Console, width: int) -> Lines:
    """The lines of a text. A word that is wider than they are, such as a path, stays whole."""
    whole = text.copy()
    whole.overflow = "ignore"
    return whole.wrap(console, width)


def show_rows(rows: Iterable[tuple[Text, Text]], console: Console, margin: int, *, wrap: bool = True) -> None:
    """Labels in a margin on the left, what they label on the right, wrapped in a column of its own.

    A label wider than the margin has it to itself.
    """
    for label, value in rows:
        lines = list(_wrap(value, console, max(20, console.width - margin))) if wrap else [value]
        first = label.copy()
        if len(first.plain) >= margin:
            console.print(first, soft_wrap=True)
            first = Text()
        first.pad_right(margin - len(first.plain))
        for number, line in enumerate(lines or [Text()]):
            whole = (first if number == 0 else Text(" " * margin)) + line
            whole.rstrip()
            console.print(whole, soft_wrap=True)


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
