"""Launches on a terminal: the plan as a list, and the work of each launch as a bar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tilestep.inspect.plan import Plan, PlannedLaunch
from tilestep.inspect.timeline import Bar, Lane, Timeline
from tilestep.report.console import show_rows, show_text
from tilestep.report.terminal import bytes_text

LABEL = 12  # width of the labels on the left
BAR = 48  # width of the longest bar
NAME = 20  # width of the kernels' names beside the bars


def show_plan(plan: Plan, console: Console) -> None:
    """Prints every launch with its shape and shared memory, then memsets and scratch memory."""
    console.print()
    at = f"{plan.length_name} = {plan.length}"
    console.print(Text.assemble((Path(plan.file).name, "bold"), f"   {plan.step}, {at}"))
    console.print()
    rows = [
        (Text(f"launch {number}", style="label"), _launch(one, plan.file))
        for number, one in enumerate(plan.launches, start=1)
    ]
    rows.append((Text("memsets", style="label"), Text(str(plan.memsets))))
    scratch = " + ".join(bytes_text(size) for size in plan.scratch_bytes)
    rows.append((Text("scratch", style="label"), Text(scratch or "none")))
    show_rows(rows, console, LABEL)
    console.print()


def _launch(one: PlannedLaunch, file: str) -> Text:
    launch = one.launch
    text = Text.assemble((launch.kernel, "code"))
    if launch.line:
        text.append(f"   {file}:{launch.line}", style="place")
    text.append(f"\ngrid {_shape(launch.grid)} of block {_shape(launch.block)}: ")
    text.append(f"{one.blocks:,} blocks, {one.blocks * one.threads:,} threads")
    text.append(f"\nshared memory of a block: {bytes_text(one.static_shared)} declared")
    if launch.dynamic_shared:
        text.append(f", {bytes_text(launch.dynamic_shared)} dynamic")
    return text


def _shape(triple: Sequence[int]) -> str:
    sizes = list(triple)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return " x ".join(map(str, sizes))


def show_timeline(timeline: Timeline, console: Console) -> None:
    """Prints a bar for each launch, as long as its depth; the deepest lane is the measure of all."""
    longest = max(max((lane.depth for lane in timeline.lanes), default=0), 1)
    console.print()
    console.print(Text(f"{timeline.length_name} = {timeline.length}: depth of each launch", style="bold"))
    for lane in timeline.lanes:
        console.print()
        title = Text.assemble((lane.name, "code"), f"   {count_text(lane.depth)}")
        if lane.depth and lane is not timeline.lanes[0]:
            title.append(f", {_against(lane, timeline.lanes[0])}", style="quiet")
        console.print(title, soft_wrap=True)
        before = 0
        for bar in lane.bars:
            _show_bar(bar, before, longest, console)
            before += bar.depth
    console.print()
    bars = dict.fromkeys(bar for lane in timeline.lanes for bar in lane.bars)
    show_rows(((Text(bar.kernel[: NAME - 1]), _told(bar)) for bar in bars), console, NAME)
    console.print()
    show_text(
        Text(
            "Depth: the memory accesses of each block's busiest thread, counted and added up over blocks. "
            "It is not time, which needs a GPU. A bar that is too short to draw has one mark."
        ),
        console,
    )
    console.print()


def _show_bar(bar: Bar, before: int, longest: int, console: Console) -> None:
    block = "█" if (console.encoding or "").lower().startswith("utf") else "#"
    offset = min(round(before / longest * BAR), BAR - 1)
    width = min(max(1, round(bar.depth / longest * BAR)), BAR - offset)
    line = Text(bar.kernel[: NAME - 1].ljust(NAME) + " " * offset)
    line.append(block * width, style="good" if bar.active > 1 else "slow")
    line.append(f" {count_text(bar.depth)}")
    console.print(line, soft_wrap=True)


def _told(bar: Bar) -> Text:
    """What the length of a bar does not say."""
    counted = "" if bar.counted == bar.blocks else f" ({bar.counted} counted)"
    shape = f"{bar.blocks:,} blocks{counted}, {bar.active:.3g} of {bar.threads} threads active"
    moved = f"{count_text(bar.accesses)} accesses, {bytes_text(bar.read)} read"
    return Text(f"{shape}\n{moved}", style="quiet")


def _against(lane: Lane, first: Lane) -> str:
    less = lane.depth <= first.depth
    ratio = first.depth / lane.depth if less else lane.depth / max(first.depth, 1)
    return f"{float(f'{ratio:.3g}'):,g} times {'less deep' if less else 'deeper'} than the first"


def count_text(count: int) -> str:
    """A count with three digits and a unit: 4.38 G."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= size:
            value = count / size
            digits = max(0, 2 - int(math.log10(value)))
            return f"{value:.{digits}f} {unit}"
    return str(count)
