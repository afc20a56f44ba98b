"""`tilestep judge`."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tilestep import contract
from tilestep.cli.group import cli
from tilestep.cli.options import TARGETS, Lengths, StepName, as_json
from tilestep.contract import LENGTHS
from tilestep.judge import Verdict, judge, judge_block, step_of
from tilestep.report import console
from tilestep.report.json import dumps
from tilestep.report.progress import showing
from tilestep.report.terminal import show_verdict
from tilestep.subjects import subject


@cli.command("judge", short_help="Judge a .cu file for a step of the path.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("--step", type=StepName(), help="The step that the file is for, by default as its seam says.")
@click.option("--block", is_flag=True, help="Judge several files together, each its step of the block.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="Feed the values of an earlier run.")
@click.option("--lengths", type=Lengths(), help="Judge these lengths only, such as 1,33.")
@click.option(
    "--target", type=click.Choice(list(TARGETS)), default="cpu", show_default=True, help="Where it runs."
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first wrong case.")
@as_json
def judge_command(
    files: tuple[str, ...],
    step: str | None,
    block: bool,
    seed: int | None,
    lengths: Sequence[int] | None,
    target: str,
    fail_fast: bool,
    as_json: bool,
) -> int:
    """Judge FILE: right at every value, no fault found, and the step's gate met.

    With --block several files are judged together: each seam is fed what the seams before it returned.
    """
    if block and step is not None:
        raise click.UsageError("--block takes no --step: each file's seam says which step it is")
    step = step_of(files[0]) if step is None else step
    _check(files, step, block, lengths)
    seed = secrets.randbelow(2**32) if seed is None else seed
    with showing(console.stderr(), Path(files[0]).name) as tell:
        shared: dict[str, Any] = {
            "seed": seed,
            "lengths": lengths,
            "target": TARGETS[target](),
            "on_progress": None if as_json else tell,
        }
        if block:
            verdict = _judge_block(files, shared)
        else:
            profile = lengths is None or contract.PROFILE_LENGTH in lengths
            verdict = judge(files[0], step, profile=profile, fail_fast=fail_fast, **shared)
    print_verdict(verdict, lengths, as_json)
    return verdict.exit_code


def _check(files: Sequence[str], step: str, block: bool, lengths: Sequence[int] | None) -> None:
    """Refuses arguments that do not go together."""
    if not block and len(files) > 1:
        raise click.UsageError(
            f"one file is judged for a step, not {len(files)}; --block judges them together"
        )
    longest = max(LENGTHS) if block else subject(step).longest
    for length in lengths or ():
        if not 1 <= length <= longest:
            name = "the block" if block else step
            raise click.UsageError(f"{length} is not a length of {name}, from 1 to {longest}")


def _judge_block(files: Sequence[str], shared: dict[str, Any]) -> Verdict:
    try:
        return judge_block(files, **shared)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def print_verdict(verdict: Verdict, lengths: Sequence[int] | None, as_json: bool) -> None:
    """The verdict on standard output; the sentence of a file that never ran on standard error."""
    if as_json:
        click.echo(dumps(verdict.to_json()))
    elif verdict.cases or verdict.findings:
        show_verdict(verdict, console.stdout(), lengths)
    else:
        click.echo(verdict.says, err=True)
