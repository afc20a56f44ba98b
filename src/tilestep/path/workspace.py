"""A person's folder: a folder for each stage with the file that they work on, and a progress file.

Nothing that a person may have written is ever overwritten or deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tilestep.path import catalogue
from tilestep.path.catalogue import Stage
from tilestep.path.progress import Damaged, Progress, ProgressFile, free_name

PROGRESS_FILE = "tilestep-progress.json"
SOLUTION = "solution.cu"
README = """# My way through tilestep

Run `tilestep` here: it opens the stage that you are at, and judges its .cu file whenever you save it.
`tilestep lesson` shows the lesson, `tilestep hint` a hint, `tilestep list` what is done.
`tilestep reset STEP` brings a stage's starter back and keeps a copy of your file.
What you have passed is in tilestep-progress.json; solution.cu appears beside a file that has passed.
"""


class WorkspaceError(Exception):
    """What stands in the way, in one sentence."""


@dataclass(frozen=True)
class Workspace:
    """A workspace on disk, by its folder."""

    root: Path

    @property
    def progress(self) -> ProgressFile:
        return ProgressFile(self.root / PROGRESS_FILE)

    def file(self, stage: Stage) -> Path:
        """The file that the person works on."""
        return self.root / stage.lesson / stage.file

    def solution(self, stage: Stage) -> Path:
        """Where our solution is put after a pass."""
        return self.root / stage.lesson / SOLUTION

    def prepare(self, stage: Stage) -> bool:
        """Makes the stage's folder with its starter if there is no such folder. Raises WorkspaceError."""
        if self.file(stage).parent.exists():
            return False
        try:
            self.file(stage).parent.mkdir()
            self.file(stage).write_text(stage.starter_text(), encoding="utf-8")
        except OSError as error:
            raise WorkspaceError(f"{self.file(stage)} cannot be made: {error.strerror}") from None
        return True

    def missing(self, stage: Stage) -> str:
        """One sentence for a stage's file that is not there, with what may have become of it; "" if it is."""
        file = self.file(stage)
        if file.exists():
            return ""
        says = f"{file} is not there"
        others = [other for other in sorted(file.parent.glob("*.cu")) if _may_be_renamed(other, file)]
        if len(others) == 1:
            return f"{says}; if {others[0].name} is your file, rename it to {file.name}"
        return f"{says}; `tilestep reset {stage.step}` brings its starter back"

    def reset(self, stage: Stage) -> Path | None:
        """Brings the starter back: where the person's file is kept now. Raises WorkspaceError."""
        file = self.file(stage)
        backup = None
        try:
            file.parent.mkdir(exist_ok=True)
            if file.exists() and file.read_bytes() != stage.starter_text().encode():
                backup = free_name(file.with_name(f"{file.stem}.before-reset{file.suffix}"))
                file.rename(backup)
            file.write_text(stage.starter_text(), encoding="utf-8")
        except OSError as error:
            raise WorkspaceError(f"{file} cannot be reset: {error.strerror}") from None
        return backup

    def unlock(self, stage: Stage) -> Path | None:
        """Puts our solution beside the file; None if it cannot be written, or is there already."""
        try:
            with self.solution(stage).open("x", encoding="utf-8") as file:
                file.write(stage.solution_text())
        except OSError:
            return None
        return self.solution(stage)

    def rescue(self) -> tuple[Progress, Path]:
        """For a damaged progress file: puts it aside; a stage with its solution unlocked counts as passed."""
        rescued = Progress()
        for stage in catalogue.stages():
            if self.solution(stage).exists():
                rescued = rescued.passing(stage.step, "")
        return rescued, self.progress.replace_damaged(rescued)


def find(start: Path) -> Workspace | None:
    """The workspace that a folder is in, looking upwards."""
    start = start.absolute()
    for folder in (start, *start.parents):
        if (folder / PROGRESS_FILE).is_file():
            return Workspace(folder)
    return None


def create(folder: Path) -> tuple[Stage, ...]:
    """Makes a workspace, or adds what one lacks: the stages that are new in it. Raises WorkspaceError."""
    around = find(folder.absolute().parent)
    if around is not None:
        raise WorkspaceError(f"{folder} lies inside the workspace {around.root}; run `tilestep` there")
    workspace = Workspace(folder.absolute())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = tuple(stage for stage in catalogue.stages() if workspace.prepare(stage))
        if not (workspace.root / "README.md").exists():
            (workspace.root / "README.md").write_text(README, encoding="utf-8")
        workspace.progress.update(lambda progress: progress)  # last: from here on it counts as a workspace
    except FileExistsError:
        raise WorkspaceError(f"{folder} is a file, not a folder") from None
    except Damaged:
        workspace.rescue()
    except OSError as error:
        raise WorkspaceError(f"{folder} cannot be made a workspace: {error.strerror}") from None
    return made


def _may_be_renamed(other: Path, file: Path) -> bool:
    return other.name != SOLUTION and not other.name.startswith(f"{file.stem}.before-reset")
