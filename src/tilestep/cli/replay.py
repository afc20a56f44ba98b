"""`tilestep replay`."""

from __future__ import annotations

from pathlib import Path

import click

from tilestep.cli.group import NO_TARGET, cli
from tilestep.cli.judge import judge_asked, say_verdict
from tilestep.cli.options import JUDGES, as_json
from tilestep.judge import bundle
from tilestep.judge.evidence import EvidenceError
from tilestep.judge.replay import replay
from tilestep.judge.verdict import Unavailable
from tilestep.report import console
from tilestep.report.json import dumps
from tilestep.report.progress import showing
from tilestep.report.replay import show_replay


@cli.command("replay", short_help="Judge an evidence bundle's file again, and compare.")
@click.argument("file", metavar="BUNDLE", type=click.Path())
@click.option("--target", type=click.Choice(JUDGES), help="Judge it there, not where it was judged.")
@as_json
def replay_command(file: str, target: str | None, as_json: bool) -> int:
    """Judge the text in BUNDLE again with its seed and lengths, and compare the two verdicts.

    BUNDLE is what `tilestep judge --evidence` wrote. Exit code 0: the same; 1: something differs.
    """
    try:
        recorded = bundle.read(Path(file))
        with showing(console.stderr(), recorded.name) as tell:
            found = replay(
                recorded,
                lambda path, asked: judge_asked(path, asked, on_progress=None if as_json else tell),
                target,
            )
    except EvidenceError as error:
        raise click.UsageError(str(error)) from None
    if isinstance(found.verdict, Unavailable):
        say_verdict(found.verdict)
        return NO_TARGET
    if as_json:
        click.echo(dumps(found.to_json()))
    else:
        show_replay(recorded, found, console.stdout())
    return 0 if found.same else 1
