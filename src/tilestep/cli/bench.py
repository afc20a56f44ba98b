"""`tilestep bench`."""

from __future__ import annotations

import functools
import secrets
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from tilestep import contract, destination
from tilestep.bench import ladder as saved
from tilestep.bench.build import load_rungs
from tilestep.bench.contenders import choose
from tilestep.bench.ladder import Ladder
from tilestep.bench.messages import ROUNDS
from tilestep.bench.process import measure
from tilestep.bench.run import LENGTHS, Plan, feed, run
from tilestep.bench.whole import Keeper
from tilestep.cli.group import NO_TARGET, cli
from tilestep.cli.options import Lengths, as_json
from tilestep.cli.parameter import ParamType
from tilestep.judge import Progress
from tilestep.report import console
from tilestep.report.json import dumps
from tilestep.report.ladder import show_ladder
from tilestep.report.ladder_plot import NoMatplotlibError, plot, require_matplotlib
from tilestep.report.png import SIGNATURE
from tilestep.report.progress import showing
from tilestep.targets.gpu import GpuTarget


class Words(ParamType[tuple[str, ...]]):
    """Names or groups of contenders, separated by commas."""

    name = "name,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(word for part in str(value).split(",") if (word := part.strip()))


@cli.command("bench", short_help="Time our attention kernels and their peers on the GPU.")
@click.option("--lengths", type=Lengths(), help=f"Tokens, by default {','.join(map(str, LENGTHS))}.")
@click.option("--only", type=Words(), default=(), help="Measure these: names, or groups such as rungs,sdpa.")
@click.option("--without", type=Words(), default=(), help="Leave these out, such as flex.")
@click.option(
    "--rounds", type=click.IntRange(3, 1000), default=ROUNDS, show_default=True, help="Turns of each."
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="Feed the values of an earlier run.")
@click.option(
    "--from", "source", type=click.Path(dir_okay=False), help="Show a saved ladder, measure nothing."
)
@click.option("--png", type=click.Path(dir_okay=False), help="Write a picture too: time against length.")
@click.option(
    "--save", type=click.Path(file_okay=False), help="Write the JSON document into this folder too."
)
@click.option("--log", type=click.Path(dir_okay=False), help="Append what the peers print to this file.")
@as_json
def bench_command(
    lengths: Sequence[int] | None,
    only: Sequence[str],
    without: Sequence[str],
    rounds: int,
    seed: int | None,
    source: str | None,
    png: str | None,
    save: str | None,
    log: str | None,
    as_json: bool,
) -> int:
    """Time every rung of our attention, and every peer that is installed, in one run on the GPU.

    Contenders take turns, in random order; each replay of a graph is timed by itself, with nothing of it in
    L2. Every output is compared with float64: what is wrong gets no time. A peer that is not installed, or
    that refuses, is told with its reason.
    """
    place = None if png is None else _place_of_picture(png)
    if source is not None:
        if lengths or only or without or seed is not None or save is not None:
            raise click.UsageError("--from shows what was measured: it goes with --png and --json only")
        ladder = _load(source)
    else:
        plan = _plan(lengths, only, without, rounds, seed)
        target = GpuTarget()
        if missing := target.available():
            click.echo(missing, err=True)
            return NO_TARGET
        with showing(console.stderr(), "bench") as tell:
            ladder = _measure(plan, target, save, log, None if as_json else tell)
    if as_json:
        click.echo(dumps(ladder.to_json()))
    else:
        show_ladder(ladder, console.stdout())
    if place is not None:
        _draw(ladder, place)
    return 0


def _plan(
    lengths: Sequence[int] | None, only: Sequence[str], without: Sequence[str], rounds: int, seed: int | None
) -> Plan:
    """Raises click.UsageError for what cannot be measured."""
    chosen = tuple(dict.fromkeys(lengths or LENGTHS))
    for length in chosen:
        if not 1 <= length <= contract.PROFILE_LENGTH:
            raise click.UsageError(
                f"{length} is not a length of attention, from 1 to {contract.PROFILE_LENGTH}"
            )
    try:
        contenders = choose(only, without)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return Plan(contenders, chosen, rounds, secrets.randbelow(2**32) if seed is None else seed)


def _measure(
    plan: Plan,
    target: GpuTarget,
    save: str | None,
    log: str | None,
    tell: Callable[[Progress], None] | None,
) -> Ladder:
    if save is not None:
        _check_folder(save)
    if log is not None:
        _written(log, lambda: Path(log).touch())

    keeper = None if save is None else Keeper(Path(save), plan)

    def keep(ladder: Ladder) -> None:
        if keeper is not None:
            _written(str(save), lambda: keeper.keep(ladder))

    packed = feed(plan.lengths, plan.seed)
    loaded, broken = load_rungs(target, plan.contenders, packed)
    card = target.card
    target.close()  # the process that measures has the card to itself
    listen = functools.partial(measure, log=Path(log) if log else None)
    ladder = run(plan, card, packed, loaded, broken, listen, keep, tell)
    if keeper is not None:
        _written(str(save), lambda: keeper.finish(ladder))
    return ladder


def _load(source: str) -> Ladder:
    try:
        return saved.load(Path(source))
    except OSError as error:
        raise click.UsageError(f"{source} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise click.UsageError(f"{source}: {error}") from None


def _place_of_picture(png: str) -> Path:
    """What a picture needs must be there before anything is measured in vain."""
    try:
        require_matplotlib()
        return destination.check(png, "the picture", lambda data: data.startswith(SIGNATURE))
    except (NoMatplotlibError, destination.DestinationError) as error:
        raise click.UsageError(str(error)) from None


def _draw(ladder: Ladder, place: Path) -> None:
    try:
        destination.write(place, plot(ladder))
    except destination.DestinationError as error:
        raise click.UsageError(str(error)) from None


def _check_folder(save: str) -> None:
    def try_it() -> None:
        Path(save).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=save):
            pass

    _written(save, try_it)


def _written(path: str, write: Callable[[], Any]) -> None:
    try:
        write()
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror or error}") from None
