"""One attempt at a stage: the file before the judge, few lengths first, then all of them."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tilestep.frontends.tokens import flatten, lex
from tilestep.judge import Progress, Verdict, judge, judge_block
from tilestep.path.catalogue import Stage
from tilestep.program import SubmissionError
from tilestep.targets.cpu import CpuTarget
from tilestep.targets.protocol import Target


@dataclass(frozen=True)
class Place:
    """Where files are judged: cpu, gpu or both, and what judges there, given a judgement on one target."""

    name: str
    judge_on: Callable[[Callable[[Target], Verdict]], Verdict]


EMULATOR = Place("cpu", lambda judge_on: judge_on(CpuTarget()))


@dataclass(frozen=True)
class Attempt:
    """What the judge said of the file. `lengths` are what it was judged at, None for all.

    `untouched`: the code is still the starter's, so that a pass says nothing of the person. `block`: what it
    said of the whole block with the file and the person's others in it, where that was judged. `target` is
    the name of the place where all this was.
    """

    verdict: Verdict
    lengths: Sequence[int] | None
    untouched: bool
    block: Verdict | None = None
    target: str = EMULATOR.name

    @property
    def passed(self) -> bool:
        """The stage is passed."""
        alone = self.verdict.outcome == "passed" and self.lengths is None and not self.untouched
        return alone and (self.block is None or self.block.outcome == "passed")

    @property
    def exit_code(self) -> int:
        """The verdict's exit code; 1 for a verdict that passed where the stage is not passed."""
        worst = self.block if self.block is not None else self.verdict
        return worst.exit_code or (0 if self.passed else 1)


def attempt(
    file: Path,
    stage: Stage,
    *,
    others: Sequence[Path] = (),
    tell: Callable[[Progress], None] | None = None,
    seed: int | None = None,
    place: Place = EMULATOR,
) -> Attempt:
    """Judges a file for a stage. What is wrong at a short length is told without waiting for a long one.

    `others` are the person's files that stand in the block beside it. Raises what `judge` raises.
    """
    untouched = stage.starter_passes and same_code(file, stage.starter_text())
    seed = secrets.randbelow(2**32) if seed is None else seed
    name = shown(file)
    # Every family of the few: a mistake is named from all that it spoils, and from what it leaves right.
    asked = functools.partial(judge, name, stage.step, seed=seed, on_progress=tell)
    few = place.judge_on(lambda on: asked(target=on, lengths=stage.quick, profile=False))
    if few.outcome != "passed":
        return Attempt(few, stage.quick, untouched, target=place.name)
    every = place.judge_on(lambda on: asked(target=on, fail_fast=True))
    if every.outcome != "passed" or untouched or not stage.block:
        return Attempt(every, None, untouched, target=place.name)
    files = [*map(shown, others), name]
    block = place.judge_on(lambda on: judge_block(files, seed=seed, on_progress=tell, target=on))
    return Attempt(every, None, untouched, block, place.name)


def same_code(file: Path, text: str) -> bool:
    """Whether a file holds the same tokens as a text: comments and layout are not code."""
    try:
        return _code(file.read_text(encoding="utf-8")) == _code(text)
    except (OSError, UnicodeDecodeError, SubmissionError):
        return False  # the judge will say what is wrong with it


def shown(file: Path) -> Path:
    """The file from the folder that the person is in, if it lies below that: what they would type."""
    try:
        return file.relative_to(Path.cwd())
    except ValueError:
        return file


def _code(text: str) -> tuple[str, tuple[str, ...]]:
    lexed = lex(text)
    directives = tuple(f"#{line.name} {flatten(line.tokens)}" for line in lexed.directives)
    return flatten(lexed.tokens), directives
