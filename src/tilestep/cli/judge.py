"""`tilestep judge`."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tilestep import contract
from tilestep.cli.group import cli
from tilestep.cli.options import (
    AUTO,
    JUDGES,
    TARGET_VARIABLE,
    Lengths,
    StepName,
    as_json,
    chosen,
    judge_on,
)
from tilestep.cli.parameter import Whole
from tilestep.contract import LENGTHS
from tilestep.judge import Verdict, judge, judge_block, step_of
from tilestep.judge.evidence import Asked, EvidenceError, check_writable
from tilestep.judge.evidence import write as write_evidence
from tilestep.judge.race import MOST_PAIRS, PAIRS
from tilestep.judge.speed import FEWEST
from tilestep.judge.verdict import Unavailable
from tilestep.report import console
from tilestep.report.json import dumps
from tilestep.report.progress import showing
from tilestep.report.terminal import show_verdict
from tilestep.subjects import subject


@cli.command("judge", short_help="Judge a .cu file for a step of the path.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("--step", type=StepName(), help="The step that the file is for, by default as its seam says.")
@click.option("--block", is_flag=True, help="Judge several files together, each its step of the block.")
@click.option("--seed", type=Whole(0, 2**32 - 1), help="Feed the values of an earlier run.")
@click.option("--lengths", type=Lengths(), help="Judge these lengths only, such as 1,33.")
@click.option(
    "--target",
    type=click.Choice((AUTO, *JUDGES)),
    default=AUTO,
    envvar=TARGET_VARIABLE,
    show_envvar=True,
    help="Where it runs: by default on the GPU, if there is one; both: the CPU's checkers first.",
)
@click.option(
    "--pairs",
    type=Whole(FEWEST, MOST_PAIRS),
    help=f"Time so many pairs on the GPU, by default {PAIRS}.",
)
@click.option("--evidence", type=click.Path(), help="Write all that the verdict rests on to a JSON file.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first wrong case.")
@as_json
def judge_command(
    files: tuple[str, ...],
    step: str | None,
    block: bool,
    seed: int | None,
    lengths: Sequence[int] | None,
    target: str,
    pairs: int | None,
    evidence: str | None,
    fail_fast: bool,
    as_json: bool,
) -> int:
    """Judge FILE: right at every value, no fault found, and the step's gate met.

    The gate is traffic on the CPU, and speed on the GPU. With --block several files are judged together: each
    seam is fed what the seams before it returned.
    """
    if block and step is not None:
        raise click.UsageError("--block takes no --step: each file's seam says which step it is")
    step = step_of(files[0]) if step is None else step
    _check(files, step, block, lengths)
    target = chosen(target, lambda says: None if as_json else console.say(says))
    _check_target(target, block, pairs, evidence, files)
    seed = secrets.randbelow(2**32) if seed is None else seed
    profile = lengths is None or contract.PROFILE_LENGTH in lengths
    asked = Asked(step, seed, tuple(lengths) if lengths else None, profile, target, pairs or PAIRS, fail_fast)
    with showing(console.stderr(), Path(files[0]).name) as tell:
        shared: dict[str, Any] = {"on_progress": None if as_json else tell}
        if block:
            shared |= {"seed": seed, "lengths": lengths}
            verdict = judge_on(target, lambda one: _judge_block(files, {**shared, "target": one}))
        else:
            verdict = judge_asked(Path(files[0]), asked, **shared)
    written = evidence is None or _write_evidence(Path(evidence), verdict, asked)
    print_verdict(verdict, lengths, as_json, target, pairs)
    return verdict.exit_code if written else max(verdict.exit_code, click.UsageError.exit_code)


def judge_asked(file: Path, asked: Asked, **extra: Any) -> Verdict:
    """Judges a file as it was asked for, on the target that was named."""
    options: dict[str, Any] = {
        "seed": asked.seed,
        "lengths": asked.lengths,
        "profile": asked.profile,
        "fail_fast": asked.fail_fast,
        "pairs": asked.pairs,
        **extra,
    }
    return judge_on(asked.target, lambda target: judge(str(file), asked.step, target=target, **options))


def _check_target(
    target: str, block: bool, pairs: int | None, evidence: str | None, files: Sequence[str]
) -> None:
    """Refuses what the target or the block has no use for, and a place where no evidence can be written."""
    if pairs is not None and (block or target == "cpu"):
        raise click.UsageError("--pairs counts what is timed, and that is one file's steps with --target gpu")
    if evidence is None:
        return
    if block:
        raise click.UsageError("--evidence holds the verdict on one file: it takes no --block")
    try:
        check_writable(evidence, files)
    except EvidenceError as error:
        raise click.UsageError(str(error)) from None


def _write_evidence(path: Path, verdict: Verdict, asked: Asked) -> bool:
    """Whether the bundle was written; what is in its way is said on standard error."""
    try:
        write_evidence(path, verdict, asked)
    except EvidenceError as error:
        console.say(str(error))
        return False
    return True


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


def say_verdict(verdict: Verdict) -> None:
    """The sentence of a file that never ran. It begins with the file, or, where a target is missing, with the
    command, as every usage error does."""
    missing = isinstance(verdict, Unavailable)
    console.say(f"{click.get_current_context().command_path}: {verdict.says}" if missing else verdict.says)


def print_verdict(
    verdict: Verdict, lengths: Sequence[int] | None, as_json: bool, target: str, pairs: int | None
) -> None:
    """The verdict on standard output; the sentence of a file that never ran on standard error."""
    if as_json:
        click.echo(dumps(verdict.to_json()))
    elif verdict.cases or verdict.findings:
        show_verdict(verdict, console.stdout(), lengths, target, pairs)
    else:
        say_verdict(verdict)
