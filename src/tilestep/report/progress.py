"""The progress display: a bar with the name of the case on a terminal, nothing elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from tilestep.judge import Progress


@contextmanager
def showing(console: Console, file: str) -> Iterator[Callable[[Progress], None] | None]:
    """Yields what the judge calls as it goes on, or None where there is no terminal to draw on.

    The bar is gone when the verdict is printed.
    """
    if not console.is_terminal:
        yield None
        return
    columns = (
        SpinnerColumn(style="quiet"),
        TextColumn("{task.fields[file]}"),
        BarColumn(bar_width=24, complete_style="place", finished_style="place", pulse_style="quiet"),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        TextColumn("{task.description}", style="quiet"),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=None, file=file, count="")

        def tell(progress: Progress) -> None:
            bar.update(
                task,
                completed=progress.done,
                total=progress.total or None,
                description=progress.doing,
                count=f"{progress.done}/{progress.total}" if progress.total else "",
            )

        yield tell
