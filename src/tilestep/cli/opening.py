"""`tilestep` alone: the path in the workspace that the person is in."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import Any

import click

from tilestep.cli.options import AUTO, JUDGES, TARGET_VARIABLE, judge_on
from tilestep.cli.parameter import ParamType
from tilestep.path import catalogue, workspace
from tilestep.path.attempt import EMULATOR, Place, attempt
from tilestep.path.catalogue import Stage
from tilestep.path.keys import reading
from tilestep.path.memory import Memory
from tilestep.path.session import Session
from tilestep.path.workspace import WorkspaceError
from tilestep.report.pages import nearest
from tilestep.report.path import Terminal

NO_WORKSPACE = "there is no workspace here; `tilestep init` makes one"


class StageName(ParamType[Stage]):
    """A stage of the path by its step."""

    name = "step"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Stage:
        if isinstance(value, Stage):
            return value
        known = tuple(stage.step for stage in catalogue.stages())
        if value not in known:
            close = nearest(str(value), known)
            hint = f"did you mean {' or '.join(close)}?" if close else f"the stages are {', '.join(known)}"
            self.fail(f"no stage is called {value!r}; {hint}", param, ctx)
        return catalogue.stage(value)


def remembered() -> Memory | None:
    """The workspace that the person is in, if they are in one."""
    found = workspace.find(Path.cwd())
    try:
        return None if found is None else Memory(found)
    except WorkspaceError as error:
        raise click.UsageError(f"{error}") from None


def open_path(stage: Stage | None) -> int | None:
    """A session on a terminal, else one judgement in plain lines; None where there is no workspace."""
    memory = remembered()
    if memory is None:
        if stage is None:
            return None
        raise click.UsageError(NO_WORKSPACE)
    place = chosen_place()
    screen = Terminal()
    if memory.trouble:
        screen.says(memory.trouble)
    opened = memory.start(stage.step if stage else None)
    if sys.stdin.isatty() and sys.stdout.isatty():
        with reading(sys.stdin.fileno()) as keys:
            Session(memory, opened, screen, keys, place).run()
        return 0
    return judge_once(memory, opened, screen, place)


def chosen_place() -> Place:
    """Where the path judges: on the emulator, which has the checkers and answers a save at once, or where the
    environment says."""
    name = os.environ.get(TARGET_VARIABLE) or AUTO
    if name not in (AUTO, *JUDGES):
        known = ", ".join((AUTO, *JUDGES))
        raise click.UsageError(f"{TARGET_VARIABLE} is {name!r} in the environment, and not one of {known}")
    return EMULATOR if name == AUTO else Place(name, functools.partial(judge_on, name))


def judge_once(memory: Memory, stage: Stage, screen: Terminal, place: Place) -> int:
    """One judgement of a stage's file, without keys: the verdict's exit code."""
    trouble = memory.open(stage)
    if trouble:
        screen.says(trouble)
    file = memory.workspace.file(stage)
    screen.opened(stage, file, bool(memory.progress.passed(stage.step)))
    missing = memory.workspace.missing(stage)
    if missing:
        raise click.UsageError(missing)
    made = attempt(file, stage, others=memory.passed_files(stage), place=place)
    solution = None
    if made.passed:
        solution, trouble = memory.passed(stage, made.verdict.submission.sha256)
        if trouble:
            screen.says(trouble)
    screen.attempted(stage, made, solution)
    return made.exit_code
