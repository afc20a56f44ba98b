"""`tilestep init`, `hint`, `lesson` and `reset`: the path in a workspace."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tilestep.cli.group import cli
from tilestep.cli.opening import NO_WORKSPACE, StageName, remembered
from tilestep.cli.parameter import Whole
from tilestep.path import workspace
from tilestep.path.attempt import shown
from tilestep.path.catalogue import Stage
from tilestep.path.memory import Memory
from tilestep.path.workspace import Workspace, WorkspaceError
from tilestep.report import console
from tilestep.report.path import Terminal

stage_argument = click.argument("stage", metavar="[STEP]", type=StageName(), required=False)


@cli.command(short_help="Make a workspace for the path.")
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default="tilestep-path")
def init(folder: Path) -> int:
    """Make a workspace in DIR (tilestep-path), or add what one lacks. Nothing there is overwritten."""
    try:
        stages = workspace.create(folder)
    except WorkspaceError as error:
        raise click.UsageError(str(error)) from None
    what = f"{len(stages)} stages are new in" if stages else "nothing is missing in"
    click.echo(f"{what} {folder}; begin with: cd {folder} && tilestep")
    return 0


@cli.command(short_help="Show the next hint for a stage.")
@stage_argument
@click.option("--number", type=Whole(1), help="That hint, instead of the next one.")
def hint(stage: Stage | None, number: int | None) -> int:
    """Show the next hint for STEP, or for the open stage."""
    memory = remembered()
    stage = stage or _open_stage(memory)
    trouble = ""
    if number is None:
        number, trouble = memory.next_hint(stage) if memory else (1, "")
    count = len(stage.hints())
    if number > count:
        raise click.UsageError(f"{stage.step} has {count} hints")
    Terminal().hint(stage, number)
    if trouble:
        console.say(trouble)
    return 0


@cli.command(short_help="Show the lesson of a stage.")
@stage_argument
def lesson(stage: Stage | None) -> int:
    """Show the lesson of STEP, or of the open stage."""
    Terminal().lesson(stage or _open_stage(remembered()))
    return 0


@cli.command(short_help="Bring the starter of a stage back.")
@click.argument("stage", metavar="STEP", type=StageName())
@click.option("--yes", is_flag=True, help="Do not ask.")
def reset(stage: Stage, yes: bool) -> int:
    """Bring the starter of STEP back; your file is kept beside it, under another name."""
    found = workspace.find(Path.cwd())
    if found is None:
        raise click.UsageError(NO_WORKSPACE)
    if not yes and not _agreed(found, stage):
        click.echo("nothing was changed")
        return 1
    try:
        backup = found.reset(stage)
    except WorkspaceError as error:
        raise click.UsageError(str(error)) from None
    kept = f"; your file is {shown(backup)} now" if backup else ""
    click.echo(f"{shown(found.file(stage))} is the starter again{kept}")
    return 0


def _agreed(found: Workspace, stage: Stage) -> bool:
    try:
        return click.confirm(f"Bring the starter of {shown(found.file(stage))} back?")
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise click.UsageError("there is nobody to ask here; --yes resets without asking") from None


def _open_stage(memory: Memory | None) -> Stage:
    if memory is None:
        raise click.UsageError(f"{NO_WORKSPACE}, or name a STEP")
    return memory.start()
