"""The catalogue of the path, read from path.toml and the lessons' folders."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from tilestep import contract, kernels

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Stage:
    """One stage: a step of the contract with a lesson, a starter and our solutions. `path` is a title.

    `lesson` names its folder among the lessons and in a workspace; `file` is the person's file there.
    `starter` is the outcome of the untouched starter, `fault` the mistake or finding that its verdict names
    first ("" for none), `because` the reason in a sentence. `quick` are the lengths judged first.
    With `block` a pass is followed by a run of the whole block.
    """

    step: str
    path: str
    lesson: str
    file: str
    solutions: tuple[str, ...]
    starter: str
    because: str
    fault: str = field(default="", kw_only=True)
    block: bool = field(default=False, kw_only=True)
    quick: tuple[int, ...]

    @property
    def number(self) -> int:
        """Its place on the whole path, from 1."""
        return contract.STEP[self.step].number

    @property
    def title(self) -> str:
        return contract.STEP[self.step].title

    @property
    def starter_passes(self) -> bool:
        """The starter is right as it stands: a pass counts only for a file with other code in it."""
        return self.starter == "passed"

    def lesson_text(self) -> str:
        """The lesson, in Markdown."""
        return self._folder().joinpath("lesson.md").read_text(encoding="utf-8")

    def starter_text(self) -> str:
        """The file that a person begins with."""
        return self._folder().joinpath("starter.cu").read_text(encoding="utf-8")

    def starter_file(self) -> Path:
        """Where the starter is installed."""
        return Path(str(self._folder().joinpath("starter.cu")))

    def solution_text(self) -> str:
        """The kernel that a pass unlocks."""
        return kernels.path(self.solutions[0]).read_text(encoding="utf-8")

    def hints(self) -> tuple[str, ...]:
        """From a nudge to nearly the answer."""
        text = self._folder().joinpath("hints.toml").read_text(encoding="utf-8")
        return tuple(" ".join(hint.split()) for hint in tomllib.loads(text)["hints"])

    def _folder(self) -> Traversable:
        return files("tilestep.path").joinpath("lessons", self.lesson)


@functools.cache
def stages() -> tuple[Stage, ...]:
    """Every stage, in the order of the path."""
    return tuple(
        _stage(path["title"], entry) for path in _document()["path"] for entry in path.get("stage", ())
    )


@functools.cache
def titles() -> dict[str, str]:
    """The titles of the paths by the names that the contract has for them, in order."""
    return {path["name"]: path["title"] for path in _document()["path"]}


def stage(step: str) -> Stage:
    """The stage of a step. Raises KeyError for a step that has none."""
    for found in stages():
        if found.step == step:
            return found
    raise KeyError(step)


def after(stage: Stage) -> Stage | None:
    """The stage that follows, None behind the last one."""
    following = stages()[stages().index(stage) + 1 :]
    return following[0] if following else None


def _document() -> dict[str, Any]:
    text = files("tilestep.path").joinpath("path.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    if document["format_version"] != FORMAT_VERSION:
        raise ValueError(f"path.toml has format {document['format_version']}, not {FORMAT_VERSION}")
    return document


def _stage(path: str, entry: dict[str, Any]) -> Stage:
    listed = {name: tuple(entry[name]) for name in ("solutions", "quick")}
    return Stage(path=path, **{**entry, **listed})
