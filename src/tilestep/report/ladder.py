"""The ladder: tables on a terminal, and the table of the README."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from tilestep.bench.contenders import BF16, RUNG, everyone
from tilestep.bench.ladder import MEASURED, MISSING, WRONG, Ladder, Row
from tilestep.report.case_table import ratio_text
from tilestep.report.console import show_text
from tilestep.report.times import time_text

UNMEASURED = "It has not been measured yet: `tilestep bench --save benchmarks/results` on a GPU does."

_NAME = 22
_COLUMNS = (("time", 11), ("TFLOP/s", 9), ("of floor", 10), ("error", 10), ("/ tolerance", 13))
_LEGEND = (
    "time: median of the rounds, L2 cold. of floor: the least time that the card's stated bandwidth and "
    "multiply-adds allow, over the time. error: |out - float64| / |float64|. / tolerance: largest error of "
    "an element over the judge's fp32 tolerance, which bf16 is not held to."
)


def show_ladder(ladder: Ladder, console: Console) -> None:
    """Prints a table for each length, then one line for each reason why somebody is not in it."""
    console.print()
    console.print(
        Text.assemble((ladder.gpu, "bold"), f"   driver {ladder.driver}, {ladder.date}"), soft_wrap=True
    )
    for length in ladder.lengths:
        rows = ladder.at(length)
        console.print()
        heading = f"T = {length}".ljust(_NAME) + "".join(name.rjust(width) for name, width in _COLUMNS)
        console.print(Text(heading, style="quiet"))
        for row in rows:
            if row.outcome in (MEASURED, WRONG):
                console.print(_line(row))
    console.print()
    show_text(Text(_floors(ladder), style="quiet"), console)
    show_text(Text(_LEGEND, style="quiet"), console)
    for line in [*doubts(ladder), *left_out(ladder)]:
        show_text(Text(line), console)
    console.print()


def _line(row: Row) -> Text:
    cells = [cell.rjust(width) for cell, (_, width) in zip(_cells(row), _COLUMNS, strict=True)]
    line = Text(row.name.ljust(_NAME), style="code" if row.kind == RUNG else "")
    line.append(cells[0], style="wrong" if row.outcome == WRONG else "")
    line.append("".join(cells[1:]))
    return line


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    time = "wrong" if row.outcome == WRONG else _time(row.median_ms)
    tflops = "" if row.tflops is None else f"{row.tflops:.3g}"
    of_floor = "" if row.of_floor is None else percent_text(row.of_floor)
    error = "" if row.error is None else f"{row.error:.1e}"
    over = "" if row.over_tolerance is None else ratio_text(row.over_tolerance)
    return time, tflops, of_floor, error, over


def _floors(ladder: Ladder) -> str:
    """What sets the floor at each length, and the peaks that it stands on."""
    parts = []
    for row in (
        next((r for r in ladder.rows if r.precision == precision), None) for precision in ("fp32", BF16)
    ):
        if row is None:
            continue
        at = [one for one in ladder.rows if one.precision == row.precision and one.floor_ms]
        floors = {one.length: f"{time_text(one.floor_ms)} ({one.bound})" for one in at}
        said = ", ".join(f"{text} at T = {length}" for length, text in sorted(floors.items()))
        parts.append(f"{row.precision} floor: {said or 'unknown'}")
    return ". ".join([*parts, peaks_text(ladder)]) + "."


def peaks_text(ladder: Ladder) -> str:
    """The card's stated peaks, as far as they are known."""
    peaks = ladder.peaks
    stated = [f"{peaks.bandwidth / 1e12:.2f} TB/s"] if peaks.bandwidth else []
    stated += [f"{peaks.fp32 / 1e12:,.0f} TFLOP/s fp32 on the CUDA cores"] if peaks.fp32 else []
    stated += [f"{peaks.bf16 / 1e12:,.0f} TFLOP/s bf16 on the tensor cores"] if peaks.bf16 else []
    return "Stated peaks: " + (", ".join(stated) or "unknown")


def doubts(ladder: Ladder) -> list[str]:
    """What speaks against the times: one line for a lowered clock, one for a host that was late."""
    lines = []
    timed = [row for row in ladder.rows if row.outcome == MEASURED]
    lowered = {row.length: row for row in timed if row.lowered_rounds}  # all at a length share its rounds
    if lowered:
        rounds = ", ".join(
            f"{row.lowered_rounds} of {row.rounds} rounds at T = {length}" for length, row in lowered.items()
        )
        reasons = ", ".join(dict.fromkeys(row.lowered for row in lowered.values()))
        lowest = min(row.clock for row in lowered.values())
        down = f", down to {lowest:,} MHz" if lowest else ""
        lines.append(f"the card lowered its clock in {rounds} ({reasons}{down})")
    if late := [row for row in timed if row.late]:
        replays = ", ".join(
            f"{row.late} of {row.rounds * row.replays} of {row.name} at T = {row.length}" for row in late
        )
        lines.append(f"replays that were queued late, whose times may hold a gap of the host's: {replays}")
    return lines


def left_out(ladder: Ladder) -> list[str]:
    """One line for each reason why somebody has no time: missing, refused, failed or wrong."""
    lines = [f"not installed: {line}" for line in ladder.absent]
    others: dict[tuple[str, str], dict[str, list[int]]] = {}
    for row in ladder.rows:
        if row.outcome not in (MEASURED, MISSING):
            others.setdefault((row.outcome, row.reason), {}).setdefault(row.name, []).append(row.length)
    for (outcome, reason), names in others.items():
        who = ", ".join(_with_lengths(name, lengths, ladder) for name, lengths in names.items())
        lines.append(f"{outcome}: {who}: {reason}")
    return lines


def _with_lengths(name: str, lengths: Sequence[int], ladder: Ladder) -> str:
    if set(lengths) == set(ladder.lengths):
        return name
    return f"{name} at T = {', '.join(map(str, lengths))}"


def markdown_table(ladder: Ladder) -> str:
    """The ladder as Markdown: a row for each contender that was measured, with more of the longest length."""
    lengths = ladder.lengths
    longest = max(lengths)
    heads = ["", *(f"T = {n}" for n in lengths), "TFLOP/s", "of floor", "error"]
    lines = [_markdown(heads), _markdown(["---", *["---:"] * (len(heads) - 1)])]
    for name in dict.fromkeys(row.name for row in ladder.rows):
        by_length = {row.length: row for row in ladder.rows if row.name == name}
        if not any(row.outcome in (MEASURED, WRONG) for row in by_length.values()):
            continue
        lines.append(_markdown(_markdown_row(by_length, lengths, longest)))
    return "\n".join(lines)


def _markdown_row(by_length: dict[int, Row], lengths: Iterable[int], longest: int) -> list[str]:
    one = next(iter(by_length.values()))
    label = f"**{one.name}**" if one.kind == RUNG else one.name
    times = []
    for length in lengths:
        row = by_length.get(length)
        times.append("wrong" if row and row.outcome == WRONG else _time(row.median_ms if row else None))
    last = by_length.get(longest)
    figures = list(_cells(last)[1:4]) if last else ["", "", ""]
    return [label, *times, *figures]


def markdown_note(ladder: Ladder, file: str) -> str:
    """One paragraph under the table: where, when and how it was measured, and who is not in it."""
    versions = [f"{name} {ladder.versions[name]}" for name in ("torch", "triton") if name in ladder.versions]
    made = ", ".join([ladder.gpu, f"driver {ladder.driver}", *versions, ladder.date])
    note = (
        f"Ours in bold; names end in the precision of inputs and output, fp32 where none is named. {made}; "
        "medians, L2 cold, all in one run; TFLOP/s, share of the floor and error "
        f"at T = {max(ladder.lengths)}. "
        f"[All figures]({file}), with who refuses what and why."
    )
    sentences = [note, *(f"{said[0].upper()}{said[1:]}." for said in [*_not_in_it(ladder), *doubts(ladder)])]
    return f"{' '.join(sentences)} {peaks_text(ladder)}."


def _not_in_it(ladder: Ladder) -> list[str]:
    """Who has no row in the table, in a sentence: nobody who was faster is to be missed in silence."""
    shown = {row.name for row in ladder.rows if row.outcome in (MEASURED, WRONG)}
    outcomes = {row.name: row.outcome for row in ladder.rows}
    why: dict[str, list[str]] = {}
    for one in everyone():
        if one.name not in shown:
            said = outcomes.get(one.name, "not measured")
            why.setdefault("not installed" if said == MISSING else said, []).append(one.name)
    absent = "; ".join(f"{', '.join(names)} ({said})" for said, names in why.items())
    return [f"not in it: {absent}"] if absent else []


def _markdown(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _time(ms: float | None) -> str:
    return "" if ms is None else time_text(ms)


def percent_text(share: float) -> str:
    """A share in percent: two digits, or all that stand before the point."""
    value = 100.0 * share
    return f"{value:.0f} %" if value >= 9.95 else f"{value:.2g} %"
