"""`tilestep doctor`."""

from __future__ import annotations

import click

from tilestep.cli.group import NO_TARGET, cli
from tilestep.cli.options import as_json
from tilestep.report import console, tables
from tilestep.report.json import dumps
from tilestep.targets import doctor as machine


@cli.command("doctor", short_help="Say what this machine can judge.")
@as_json
def doctor_command(as_json: bool) -> int:
    """Say what this machine can judge, and the command that mends what it lacks."""
    checks = machine.examine()
    if as_json:
        click.echo(dumps(tables.checks_json(checks)))
    else:
        tables.show_checks(checks, console.stdout())
    return 0 if all(check.ok for check in checks) else NO_TARGET
