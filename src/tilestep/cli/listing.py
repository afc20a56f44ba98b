"""`tilestep list`."""

from __future__ import annotations

import click

from tilestep.cli.group import cli
from tilestep.cli.opening import remembered
from tilestep.cli.options import as_json
from tilestep.report import console, tables
from tilestep.report.json import dumps
from tilestep.report.path import done_json, show_paths


@cli.command("list", short_help="List both paths, what is done, and our kernels.")
@as_json
def list_command(as_json: bool) -> int:
    """List the steps of both paths with what is done here, and the kernels that come with tilestep."""
    memory = remembered()
    progress, opened = (memory.progress, memory.start()) if memory else (None, None)
    if as_json:
        document = tables.steps_json()
        for step in document["steps"]:
            step.update(done_json(step["name"], progress, opened))
        click.echo(dumps(document))
    else:
        show_paths(console.stdout(), progress, opened)
        tables.show_kernels(console.stdout())
    return 0
