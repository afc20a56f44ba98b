"""`tilestep list`."""

from __future__ import annotations

import click

from tilestep.cli.group import cli
from tilestep.cli.options import as_json
from tilestep.report import console, tables
from tilestep.report.json import dumps


@cli.command("list", short_help="List the steps and our kernels.")
@as_json
def list_command(as_json: bool) -> int:
    """List the steps of the path and the kernels that come with tilestep."""
    if as_json:
        click.echo(dumps(tables.steps_json()))
    else:
        tables.show_steps(console.stdout())
    return 0
