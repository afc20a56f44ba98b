"""Arguments and exit codes: 0 passed, 1 judged, not passed, 2 usage or the file, 3 our fault, 4 no target."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import tilestep.blas  # noqa: F401  (before anything that imports NumPy)
from tilestep import __version__, contract
from tilestep.emulator.sandbox import shut_down
from tilestep.judge import DEFAULT_STEP, Verdict, judge
from tilestep.report import console, pages, tables
from tilestep.report.json import dumps
from tilestep.report.progress import showing
from tilestep.report.terminal import show_verdict
from tilestep.targets import doctor as machine
from tilestep.targets.cpu import CpuTarget

INTERRUPTED = 130
OUR_FAULT = 3
NO_TARGET = 4

CLEAN_UP_SECONDS = 5.0
TARGETS = {"cpu": CpuTarget}


class _Commands(click.Group):
    """Turns what goes wrong outside a verdict into one sentence and an exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        extra["standalone_mode"] = False
        try:
            code = super().main(*args, **extra)
        except click.ClickException as error:
            click.echo(_usage(error), err=True)
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            click.echo("interrupted", err=True)
            code = INTERRUPTED
        except BrokenPipeError:
            # The reader of a pipe has left; nothing more can be said to it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 1
        except Exception as error:
            click.echo(_internal(error), err=True)
            code = OUR_FAULT
        sys.exit(code if isinstance(code, int) else 0)


def _usage(error: click.ClickException) -> str:
    """One sentence for arguments that cannot be."""
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context else 'tilestep'}: {error.format_message()}"


def _internal(error: Exception) -> str:
    """One sentence for a fault of ours, with the file that holds the traceback."""
    handle, name = tempfile.mkstemp(prefix="tilestep-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"tilestep {__version__}, Python {sys.version}\n{sys.argv}\n\n")
        traceback.print_exception(error, file=file)
    what = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(":")
    return f"tilestep: this is our fault, not your file's ({what}); the traceback is in {name}"


as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document, nothing else.")


@click.group(
    cls=_Commands,
    name="tilestep",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "--version", prog_name="tilestep")
@click.pass_context
def cli(context: click.Context) -> None:
    """Judges CUDA C++ kernels of a Llama decoder block, with or without a GPU."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


class _StepName(click.ParamType[str]):
    """A step of the path that can be judged."""

    name = "step"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        known = tuple(contract.STEP)
        if value not in known:
            close = pages.nearest(str(value), known)
            others = [name for name in known if name not in close]
            self.fail(
                f"no step is called {value!r}; the steps are {', '.join([*close, *others])}", param, ctx
            )
        if not contract.STEP[value].judged:
            self.fail(f"{value} cannot be judged yet; {_judged()} can", param, ctx)
        return str(value)


def _judged() -> str:
    return " and ".join(step.name for step in contract.STEPS if step.judged)


class _Lengths(click.ParamType[tuple[int, ...]]):
    """Lengths separated by commas."""

    name = "n,n,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            lengths = tuple(int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not a list of whole numbers such as 1,33", param, ctx)
        for length in lengths:
            if not 1 <= length <= contract.PROFILE_LENGTH:
                self.fail(f"{length} is not a length from 1 to {contract.PROFILE_LENGTH}", param, ctx)
        return lengths


@cli.command("judge", short_help="Judge a .cu file for a step of the block.")
@click.argument("file", type=click.Path())
@click.option(
    "--step", type=_StepName(), default=DEFAULT_STEP, show_default=True, help="The step that the file is for."
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="Feed the values of an earlier run.")
@click.option("--lengths", type=_Lengths(), help="Judge these lengths only, such as 1,33.")
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
    _print(verdict, lengths, as_json)
    return verdict.exit_code


def _print(verdict: Verdict, lengths: Sequence[int] | None, as_json: bool) -> None:
    """The verdict on standard output; the sentence of a file that never ran on standard error."""
    if as_json:
        click.echo(dumps(verdict.to_json()))
    elif verdict.cases or verdict.findings:
        show_verdict(verdict, console.stdout(), lengths)
    else:
        click.echo(verdict.says, err=True)


@cli.command(short_help="Explain a finding or a mistake.")
@click.argument("code", required=False)
@as_json
def explain(code: str | None, as_json: bool) -> int:
    """Explain a finding or a mistake by its CODE; without one, list them all."""
    known = pages.codes()
    if code is None:
        if as_json:
            click.echo(dumps({"codes": [{"code": c, "title": pages.page(c).title} for c in known]}))
        else:
            tables.show_codes(console.stdout())
        return 0
    if code not in known:
        close = pages.nearest(code, known)
        hint = f"; did you mean {' or '.join(close)}?" if close else "; `tilestep explain` lists them"
        raise click.UsageError(f"no page explains {code!r}{hint}")
    page = pages.page(code)
    if as_json:
        click.echo(dumps({"code": page.code, "title": page.title, "text": page.text}))
    else:
        tables.show_page(page, console.stdout())
    return 0


@cli.command(short_help="Say what this machine can judge.")
@as_json
def doctor(as_json: bool) -> int:
    """Say what this machine can judge, and the command that mends what it lacks."""
    checks = machine.examine()
    if as_json:
        click.echo(dumps(tables.checks_json(checks)))
    else:
        tables.show_checks(checks, console.stdout())
    return 0 if all(check.ok for check in checks) else NO_TARGET


@cli.command("list", short_help="List the steps and our kernels.")
@as_json
def list_command(as_json: bool) -> int:
    """List the steps of the path and the kernels that come with tilestep."""
    if as_json:
        click.echo(dumps(tables.steps_json()))
    else:
        tables.show_steps(console.stdout())
    return 0


def _interrupt(number: int, _: Any) -> None:
    """Ends what runs before Python waits for it, so that nothing is left behind."""
    shut_down()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def _let_threads_clean_up(seconds: float) -> None:
    """Waits until the threads that ran programs have deleted their folders.

    An interrupted `join` marks a thread as ended while it still works, so Python itself would not wait.
    """
    deadline = time.monotonic() + seconds
    while threading.active_count() > 1 and time.monotonic() < deadline:
        time.sleep(0.01)


def main() -> None:
    """The entry point of the `tilestep` command."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        cli(prog_name="tilestep")
    finally:
        _let_threads_clean_up(CLEAN_UP_SECONDS)
