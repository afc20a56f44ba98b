"""`tilestep explain`."""

from __future__ import annotations

import click

from tilestep.cli.group import cli
from tilestep.cli.options import as_json
from tilestep.report import console, pages, tables
from tilestep.report.json import dumps


@cli.command("explain", short_help="Explain a finding or a mistake.")
@click.argument("code", required=False)
@as_json
def explain_command(code: str | None, as_json: bool) -> int:
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
