"""The group of all commands: what goes wrong outside a verdict becomes one sentence and an exit code."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from typing import Any

import click

from tilestep import __version__
from tilestep.cli.opening import StageName, open_path
from tilestep.path.catalogue import Stage
from tilestep.report import console
from tilestep.targets.protocol import TargetUnavailableError

INTERRUPTED = 130
OUR_FAULT = 3
NO_TARGET = 4


class Commands(click.Group):
    """Turns what goes wrong outside a verdict into one sentence and an exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        extra["standalone_mode"] = False
        try:
            code = super().main(*args, **extra)
        except click.ClickException as error:
            console.say(_usage(error))
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            click.echo("interrupted", err=True)
            code = INTERRUPTED
        except TargetUnavailableError as error:
            console.say(str(error))
            code = NO_TARGET
        except BrokenPipeError:
            # The reader of a pipe has left; nothing more can be said to it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 1
        except Exception as error:
            console.say(_internal(error))
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


@click.group(
    cls=Commands,
    name="tilestep",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "--version", prog_name="tilestep")
@click.option("--step", "stage", type=StageName(), help="Open the path at this stage.")
@click.pass_context
def cli(context: click.Context, stage: Stage | None) -> int:
    """Judges CUDA C++ kernels of a Llama decoder block, with or without a GPU.

    Alone, in a workspace that `tilestep init` has made, it opens the path there: it judges the file of the
    open stage whenever that is saved. It judges on the CPU; with TILESTEP_TARGET=gpu or both in the
    environment on a GPU too.
    """
    if context.invoked_subcommand is not None:
        return 0
    code = open_path(stage)
    if code is None:
        click.echo(context.get_help())
    return code or 0
