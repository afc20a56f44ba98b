"""The times of launches on a terminal, as bars."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from tilestep.inspect.times import TimedBar, TimedLane, Times
from tilestep.report.console import show_text
from tilestep.report.launches import BAR, NAME


def show_times(times: Times, console: Console) -> None:
    """Prints a bar for each launch, as long as its time; the slowest lane is the measure of all."""
    longest = max((lane.ms for lane in times.lanes), default=0.0)
    console.print()
    title = Text(f"{times.length_name} = {times.length}: time of each launch", style="bold")
    console.print(title.append(f"   {times.card}", style="not bold"), soft_wrap=True)
    for lane in times.lanes:
        console.print()
        console.print(Text(lane.name, style="code"), soft_wrap=True)
        head = Text(time_text(lane.ms))
        if lane is not times.lanes[0]:
            head.append(f", {_against(lane, times.lanes[0])}", style="quiet")
        console.print(head, soft_wrap=True)
        before = 0.0
        for bar in lane.bars:
            _show_bar(bar, before, longest, console)
            before += bar.ms
    console.print()
    says = (
        f"Each launch by itself, between CUDA events: the median of {times.repeats} calls. A lane's time is "
        "their sum, without what lies between launches. A bar that is too short to draw has one mark."
    )
    show_text(Text(says), console)
    console.print()


def _show_bar(bar: TimedBar, before: float, longest: float, console: Console) -> None:
    block = "█" if (console.encoding or "").lower().startswith("utf") else "#"
    scale = BAR / longest if longest > 0.0 else 0.0
    offset = min(round(before * scale), BAR - 1)
    width = min(max(1, round(bar.ms * scale)), BAR - offset)
    line = Text(bar.kernel[: NAME - 1].ljust(NAME) + " " * offset)
    line.append(block * width, style="good")
    line.append(f" {time_text(bar.ms)}")
    console.print(line, soft_wrap=True)


def _against(lane: TimedLane, first: TimedLane) -> str:
    if not (lane.ms > 0.0 and first.ms > 0.0):
        return "no time was measured"
    faster = lane.ms <= first.ms
    ratio = float(f"{first.ms / lane.ms if faster else lane.ms / first.ms:.3g}")
    if ratio == 1.0:
        return "as fast as the first"
    return f"{ratio:,g} times as {'fast' if faster else 'slow'} as the first"


def time_text(ms: float) -> str:
    """A time with three digits: 33.1 ms, 4.70 ms, 312 us, 5.21 us."""
    value, unit = (ms, "ms") if ms >= 1.0 else (ms * 1000.0, "us")
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:,.{digits}f} {unit}"
