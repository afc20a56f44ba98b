"""What a session knows of its workspace: kept on disk where that can be, in memory where it can't."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tilestep.contract import STEP
from tilestep.path import catalogue
from tilestep.path.catalogue import Stage
from tilestep.path.progress import Damaged, Progress, TooNew
from tilestep.path.watching import file_hash
from tilestep.path.workspace import Workspace, WorkspaceError


class Memory:
    """A workspace and its progress. Whatever keeps the progress off the disk is told once, in a sentence."""

    def __init__(self, workspace: Workspace) -> None:
        """Raises WorkspaceError if the progress was written by a newer tilestep, or can't be read at all."""
        self.workspace = workspace
        self.trouble = ""
        self._told = False
        self._rescued = False
        file = workspace.progress.path
        try:
            self.progress = workspace.progress.read()
        except TooNew as error:
            raise WorkspaceError(f"{file} is left alone: {error}") from None
        except Damaged as error:
            self.trouble = self._rescue(str(error))
        except OSError as error:
            raise WorkspaceError(f"{file} cannot be read: {error.strerror}") from None

    def start(self, step: str | None = None) -> Stage:
        """The stage to open: the one that is asked for, else the current one or the next not yet passed."""
        if step is not None:
            return catalogue.stage(step)
        open_stages = [stage for stage in catalogue.stages() if not self.progress.passed(stage.step)]
        try:
            current = catalogue.stage(self.progress.current)
        except KeyError:  # at the start, or a step that this version does not have
            return open_stages[0] if open_stages else catalogue.stages()[-1]
        if current in open_stages:
            return current
        later = [stage for stage in open_stages if stage.number > current.number]
        return (later or open_stages or [current])[0]

    def open(self, stage: Stage) -> str:
        """Notes that a stage is open, and makes its folder if a newer version brought it: what went wrong."""
        says = []
        try:
            if self.workspace.prepare(stage):
                says.append(f"{self.workspace.file(stage).parent} was not there: its starter is in it now.")
        except WorkspaceError as error:
            says.append(f"{error}.")
        says.append(self._update(lambda progress: progress.opening(stage.step)))
        return " ".join(filter(None, says))

    def passed(self, stage: Stage, sha256: str) -> tuple[Path | None, str]:
        """Notes a pass and unlocks our solution: where it is now, and what went wrong."""
        trouble = self._update(lambda progress: progress.passing(stage.step, sha256))
        return self.workspace.unlock(stage), trouble

    def passed_files(self, stage: Stage) -> tuple[Path, ...]:
        """The person's other files of the block as they were passed, one a seam; edited ones are left out."""
        this = STEP[stage.step]
        by_seam: dict[str, Path] = {}
        for found in catalogue.stages():
            other, file = STEP[found.step], self.workspace.file(found)
            if other.path != this.path or other.seam == this.seam:
                continue
            if self.progress.passed_with(other.name, file_hash(file)):
                by_seam[other.seam.function] = file  # the later of two stages with one seam
        return tuple(by_seam.values())

    def next_hint(self, stage: Stage) -> tuple[int, str]:
        """The number of the hint to show, and what went wrong; behind the last one that stays."""
        number = min(self.progress.hints(stage.step) + 1, len(stage.hints()))
        return number, self._update(lambda progress: progress.hinting(stage.step, number))

    def _update(self, change: Callable[[Progress], Progress]) -> str:
        self.progress = change(self.progress)
        try:
            self.progress = self.workspace.progress.update(change)
        except TooNew as error:
            return self._once(str(error))
        except Damaged as error:
            says = self._rescue(str(error))
            return " ".join(filter(None, (says, self._update(change)))) if self._rescued else says
        except OSError as error:
            return self._once(error.strerror or str(error))
        return ""

    def _rescue(self, why: str) -> str:
        file = self.workspace.progress.path
        try:
            rescued, aside = self.workspace.rescue()
        except OSError as error:
            self._rescued = False
            self.progress = Progress()
            return f"{file} is damaged ({why}) and cannot be replaced: {error.strerror}."
        self._rescued = True
        self.progress = rescued
        done = sum(bool(rescued.passed(step)) for step in rescued.steps())
        return (
            f"{file} was damaged ({why}); it is kept as {aside.name}, and the unlocked solutions tell of "
            f"{done} passed stage{'' if done == 1 else 's'}."
        )

    def _once(self, why: str) -> str:
        if self._told:
            return ""
        self._told = True
        file = self.workspace.progress.path
        return f"What is done here cannot be kept ({file}: {why}); files are judged all the same."
