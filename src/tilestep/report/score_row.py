"""A row of scores on a terminal: yours above float64, masked keys marked, differences coloured."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from tilestep.inspect.scores import Key, ScoreRow
from tilestep.report.console import show_rows, show_text

LABEL = 9  # width of the labels on the left
COLUMN = 9  # width of a key's column
ACROSS = 7  # keys in a line: with the label, less than 80 columns
_SHOWN_WHOLE = 12  # lines of keys; of a longer row, what is right is left out

_SEEN = 5  # forms that are told of

NOTHING = "-"  # never written


def show_scores(row: ScoreRow, console: Console) -> None:
    """Prints the row, what it is and where it was found."""
    console.print()
    console.print(_headline(row), soft_wrap=True)
    console.print()
    show_rows(_facts(row), console, LABEL)
    lines = [row.keys[at : at + ACROSS] for at in range(0, len(row.keys), ACROSS)]
    left_out: list[Key] = []
    for keys in lines:
        if _can_be_left_out(row, keys, len(lines)):
            left_out += keys
            continue
        _show_left_out(left_out, console)
        left_out = []
        _show_keys(keys, console)
    _show_left_out(left_out, console)
    console.print()
    show_text(Text(summary(row)), console)
    console.print()


def summary(row: ScoreRow) -> str:
    """A few sentences: what differs, and what masked keys hold."""
    if not row.matched:
        return (
            f"No value of {row.array} is one that this row's scores have in any known form; "
            "its first elements stand beside the score."
        )
    visible = sum(not key.masked for key in row.keys)
    what = "visible keys" if row.head is not None else "values"
    if row.different == 0 and row.missing == 0:
        said = [f"All {visible} {what} are the float64 ones, to fp32's rounding."]
    else:
        said = [f"{row.different} of {visible} {what} differ from float64."]
    if row.foreign:
        said.append(f"What the array holds is the {row.form}.")
    if row.missing:
        said.append(f"{row.missing} were not found in it: a form of theirs that is not known, or a tile.")
    if any(key.yours is None and key.element is not None and not key.masked for key in row.keys):
        said.append(f"A {NOTHING} stands where the array never got a value.")
    leaks = [key.key for key in row.keys if key.leaks]
    if leaks:
        keys = f"key {leaks[0]} holds" if len(leaks) == 1 else f"keys {leaks[0]} to {leaks[-1]} hold"
        said.append(f"Masked {keys} what an unmasked one would: the mask lets it through.")
    elif row.unmasked:
        keys = "key holds" if row.unmasked == 1 else "keys hold"
        said.append(f"{row.unmasked} masked {keys} a number that no masked key should have.")
    return " ".join(said)


def _headline(row: ScoreRow) -> Text:
    block = ", ".join(map(str, row.block))
    return Text.assemble(
        (f"row {row.row}" if row.head is None else f"row {row.row}, head {row.head}", "bold"),
        f"   {'columns' if row.head is None else 'T'} = {row.length} ({row.family}, seed {row.seed})   ",
        (f"{row.kernel}, block ({block})", "quiet"),
    )


def _facts(row: ScoreRow) -> list[tuple[Text, Text]]:
    facts = [("array", Text.assemble((row.array, "code"), f"   {row.form}"))]
    facts += [("when" if at == 0 else "", Text(when)) for at, when in enumerate(dict.fromkeys(row.moments))]
    others = [one.name for one in row.arrays if one.name != row.array]
    if others:
        facts.append(("others", Text(f"{', '.join(others)}: --array NAME shows one", style="quiet")))
    for seen in row.seen[:_SEEN]:
        if (seen.array, seen.form) != (row.array, row.form):
            keys = "1 key" if seen.keys == 1 else f"{seen.keys} keys"
            facts.append(("also", Text(f"{seen.array}: {seen.form}, {keys}, {seen.when}", style="quiet")))
    if row.cut:
        facts.append(("", Text("there was more to watch than is kept: what is shown is the beginning")))
    return [(Text(label, style="label"), text) for label, text in facts]


def _can_be_left_out(row: ScoreRow, keys: Sequence[Key], lines: int) -> bool:
    right = all(key.ok for key in keys)
    edge = row.row
    at_the_edge = row.head is not None and keys[0].key <= edge + 1 and keys[-1].key >= edge
    return right and not at_the_edge and (lines > _SHOWN_WHOLE or all(key.masked for key in keys))


def _show_left_out(keys: Sequence[Key], console: Console) -> None:
    if not keys:
        return
    masked = [key for key in keys if key.masked]
    seen = [key for key in keys if not key.masked]
    console.print()
    if seen:
        console.print(Text(f"keys {seen[0].key} to {seen[-1].key}: as float64", style="quiet"))
    if masked:
        held = {NOTHING if key.yours is None else number(key.yours) for key in masked}
        words = "never written" if held == {NOTHING} else f"all {held.pop()}" if len(held) == 1 else "right"
        console.print(Text(f"keys {masked[0].key} to {masked[-1].key}: masked, {words}", style="quiet"))


def _show_keys(keys: Sequence[Key], console: Console) -> None:
    head, yours, want = Text("key".ljust(LABEL)), Text("yours".ljust(LABEL)), Text("float64".ljust(LABEL))
    for key in keys:
        head.append(str(key.key).rjust(COLUMN))
        held = NOTHING if key.yours is None else number(key.yours)
        style = "wrong" if not key.ok else "quiet" if key.masked else "good"
        yours.append(held.rjust(COLUMN), style=style)
        want.append(
            ("masked" if key.masked else number(key.want)).rjust(COLUMN), style="quiet" if key.masked else ""
        )
    marks = Text(" " * LABEL)
    for key in keys:
        marks.append(
            ("" if key.ok else "^" * len(NOTHING if key.yours is None else number(key.yours))).rjust(COLUMN),
            "wrong",
        )
    console.print()
    head.stylize("quiet")
    for line in (head, yours, *([marks] if marks.plain.strip() else []), want):
        line.rstrip()
        console.print(line)


def number(value: float) -> str:
    """A value in at most 8 characters."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "-inf" if value < 0 else "inf"
    for digits in (4, 3, 2, 1):
        text = f"{value:.{digits}g}"
        if len(text) <= COLUMN - 1:
            return text
    return f"{value:.0e}"
