"""`tilestep show`: what a kernel left in shared memory, where it is wrong, what it launches."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from tilestep import destination
from tilestep.cli.group import NO_TARGET, cli
from tilestep.cli.options import TARGETS, StepName, as_json
from tilestep.cli.parameter import Whole
from tilestep.inspect import errors, plan, scores, timeline, times
from tilestep.inspect.session import DEFAULT_SEED, CannotLook, NoTarget, Session, open_session
from tilestep.report import console
from tilestep.report.error_map import picture, show_errors
from tilestep.report.json import dumps
from tilestep.report.launches import show_plan, show_timeline
from tilestep.report.png import SIGNATURE
from tilestep.report.score_row import show_scores
from tilestep.report.times import show_times
from tilestep.report.trace import is_trace, trace_events

file_argument = click.argument("file", type=click.Path())
step_option = click.option("--step", type=StepName(), help="The step that FILE is for; default: by its seam.")
seed_option = click.option(
    "--seed",
    type=Whole(0, 2**32 - 1),
    default=DEFAULT_SEED,
    show_default=True,
    help="Of the values.",
)
length_option = click.option("--length", type=Whole(min=1), help="Tokens, or columns of a row.")
family_option = click.option("--family", help="The value family that is fed.")


class _Show(click.Group):
    """Says in one sentence why something cannot be shown."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except CannotLook as error:
            console.say(str(error))
            return 2
        except NoTarget as error:
            console.say(f"{ctx.command_path} {ctx.invoked_subcommand}: {error}")
            return NO_TARGET


@cli.group(cls=_Show, short_help="Look into a kernel: its scores, errors, launches.")
def show() -> None:
    """Look into a kernel: its scores, its errors, its launches and their work."""


def _open(file: str, step: str | None, seed: int) -> Session:
    return open_session(file, step, seed, TARGETS["cpu"]())


@show.command("scores", short_help="The score row that a kernel left in shared memory.")
@file_argument
@click.option("--row", type=Whole(min=0), help="The query's token, or the row; default: a late one.")
@click.option("--head", type=Whole(min=0), default=0, show_default=True, help="The query head.")
@length_option
@click.option("--family", default="normal", show_default=True, help="The value family that is fed.")
@click.option("--array", help="The shared array; default: the one whose values are the row's scores.")
@step_option
@seed_option
@as_json
def scores_command(
    file: str,
    row: int | None,
    head: int,
    length: int | None,
    family: str,
    array: str | None,
    step: str | None,
    seed: int,
    as_json: bool,
) -> int:
    """Print the row of scores that the block of a query row and head left in a shared array, beside float64;
    for a softmax, the row of values.

    The block is the one that writes the row's output; the array is the one that holds the row's scores, or
    their exponentials, at one of its barriers, before it is written anew, or at the end.
    """
    found = scores.look_at_scores(_open(file, step, seed), length, family, row, head, array)
    return _print(found, show_scores, as_json)


@show.command("errors", short_help="A map of where the output is wrong.")
@file_argument
@length_option
@family_option
@click.option("--png", type=click.Path(dir_okay=False), help="Write the map as a picture too.")
@step_option
@seed_option
@as_json
def errors_command(
    file: str,
    length: int | None,
    family: str | None,
    png: str | None,
    step: str | None,
    seed: int,
    as_json: bool,
) -> int:
    """Draw where the output is wrong: rows down, heads or columns across, error over tolerance by shade.

    Without a length and family: the first case that is wrong.
    """
    place = _place(png, "the picture", lambda data: data.startswith(SIGNATURE), [file])
    found = errors.look_at_errors(_open(file, step, seed), length, family)
    if place is not None:
        _write(place, picture(found))
    return _print(found, show_errors, as_json)


@show.command("plan", short_help="The launches that a seam asks for.")
@file_argument
@length_option
@step_option
@as_json
def plan_command(file: str, length: int | None, step: str | None, as_json: bool) -> int:
    """List the launches of FILE: kernel, line, grid, block and shared memory; memsets; scratch memory."""
    return _print(plan.look_at_plan(_open(file, step, DEFAULT_SEED), length), show_plan, as_json)


@show.command("timeline", short_help="How much work each launch is; on a GPU, how long it takes.")
@click.argument("files", nargs=-1, type=click.Path())
@length_option
@click.option(
    "--target",
    type=click.Choice(["cpu", "gpu"]),
    default="cpu",
    show_default=True,
    help="Count accesses on the CPU, or measure times on the GPU.",
)
@click.option("--trace", type=click.Path(dir_okay=False), help="Write the times as a Chrome trace too.")
@step_option
@seed_option
@as_json
def timeline_command(
    files: tuple[str, ...],
    length: int | None,
    target: str,
    trace: str | None,
    step: str | None,
    seed: int,
    as_json: bool,
) -> int:
    """Draw the launches of FILES as bars: of counted memory accesses, which are not times, or with
    --target gpu of times, in the block with tilestep's own kernels around them.

    Without files: the decoder block by tilestep's own kernels, with attention by serial rows, by cooperative
    blocks and online, at 2048 tokens.
    """
    if target == "gpu":
        return _timed(files, length, trace, step, seed, as_json)
    if trace is not None:
        raise click.UsageError("--trace writes times, and a CPU has none to show: add --target gpu")
    if files:
        found = timeline.look_at_files([_open(file, step, seed) for file in files], length)
    else:
        found = timeline.look_at_block(seed, TARGETS["cpu"](), length)
    return _print(found, show_timeline, as_json)


def _timed(
    files: tuple[str, ...], length: int | None, trace: str | None, step: str | None, seed: int, as_json: bool
) -> int:
    from tilestep.targets.gpu import GpuTarget  # what it needs is loaded only where a GPU is asked for

    place = _place(trace, "the trace", is_trace, files)
    target = GpuTarget()
    found = (
        times.time_files(files, step, seed, target, length)
        if files
        else times.time_block(seed, target, length)
    )
    if place is not None:
        _write(place, (json.dumps(trace_events(found)) + "\n").encode())
    return _print(found, show_times, as_json)


def _place(name: str | None, what: str, ours: Callable[[bytes], bool], files: Sequence[str]) -> Path | None:
    """Where an option says that something is written, looked at before the work."""
    if name is None:
        return None
    try:
        return destination.check(name, what, ours, files)
    except destination.DestinationError as error:
        raise click.UsageError(str(error)) from None


def _write(place: Path, data: bytes) -> None:
    try:
        destination.write(place, data)
    except destination.DestinationError as error:
        raise click.UsageError(str(error)) from None


def _print(found: Any, draw: Callable[[Any, Any], None], as_json: bool) -> int:
    if as_json:
        click.echo(dumps(found.to_json()))
    else:
        draw(found, console.stdout())
    return 0
