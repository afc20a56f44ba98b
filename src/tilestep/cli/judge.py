"""`tilestep judge`."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

import click

from tilestep import contract
from tilestep.cli.group import cli
from tilestep.cli.options import TARGETS, Lengths, StepName, as_json
from tilestep.judge import DEFAULT_STEP, Verdict, judge
from tilestep.report import console
from tilestep.report.json import dumps
from tilestep.report.progress import showing
from tilestep.report.terminal import show_verdict


@cli.command("judge", short_help="Judge a .cu file for a step of the block.")
@click.argument("file", type=click.Path())
@click.option(
    "--step", type=StepName(), default=DEFAULT_STEP, show_default=True, help="The step that the file is for."
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="Feed the values of an earlier run.")
@click.option("--lengths", type=Lengths(), help="Judge these lengths only, such as 1,33.")
@click.option(
    "--target", type=click.Choice(list(TARGETS)), default="cpu", show_default=True, help="Where it runs."
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first wrong case.")
@as_json
def judge_command(
    file: str,
    step: str,
    seed: int | None,
    lengths: Sequence[int] | None,
    target: str,
    fail_fast: bool,
    as_json: bool,
) -> int:
    """Judge FILE: right at every value, no fault found, and the step's gate met."""
    seed = secrets.randbelow(2**32) if seed is None else seed
    errors = console.stderr()
    with showing(errors, Path(file).name) as tell:
        verdict = judge(
            file,
            step,
            seed=seed,
            lengths=lengths,
            target=TARGETS[target](),
            profile=lengths is None or contract.PROFILE_LENGTH in lengths,
            on_progress=None if as_json else tell,
            fail_fast=fail_fast,
        )
    print_verdict(verdict, lengths, as_json)
    return verdict.exit_code


def print_verdict(verdict: Verdict, lengths: Sequence[int] | None, as_json: bool) -> None:
    """The verdict on standard output; the sentence of a file that never ran on standard error."""
    if as_json:
        click.echo(dumps(verdict.to_json()))
    elif verdict.cases or verdict.findings:
        show_verdict(verdict, console.stdout(), lengths)
    else:
        click.echo(verdict.says, err=True)
