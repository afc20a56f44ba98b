"""The path on a terminal: watches the open stage's file, judges it on every save, answers single keys."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from tilestep.judge import Progress as Judging
from tilestep.path import catalogue
from tilestep.path.attempt import EMULATOR, Attempt, Place, attempt
from tilestep.path.catalogue import Stage
from tilestep.path.keys import Keys
from tilestep.path.memory import Memory
from tilestep.path.watching import MISSING, PAUSE, UNREADABLE, Watched


class Screen(Protocol):
    """What a session is shown on."""

    def opened(self, stage: Stage, file: Path, passed: bool) -> None:
        """The stage is open, and this is the file to edit."""

    def judging(self, stage: Stage, file: Path) -> AbstractContextManager[Callable[[Judging], None] | None]:
        """Shows how far the judge is while the block runs."""

    def attempted(self, stage: Stage, attempt: Attempt, solution: Path | None) -> None:
        """A verdict, and our solution if that is unlocked now."""

    def hint(self, stage: Stage, number: int) -> None:
        """A stage's hint by its number, from 1."""

    def lesson(self, stage: Stage) -> None:
        """The lesson."""

    def overview(self, memory: Memory, open_stage: Stage) -> None:
        """Both paths, and what is done."""

    def keys(self, passed: bool) -> None:
        """The keys that can be pressed now."""

    def says(self, sentence: str) -> None:
        """Anything else."""


class Session:
    """One person at one terminal. `keys` are read only while nothing is judged; `place` is where that is."""

    def __init__(
        self, memory: Memory, stage: Stage, screen: Screen, keys: Keys, place: Place = EMULATOR
    ) -> None:
        self.memory = memory
        self.screen = screen
        self.keys = keys
        self.place = place
        self._answers: dict[str, Callable[[], None]] = {
            "h": self._hint,
            "l": lambda: self.screen.lesson(self.stage),
            "a": lambda: self.screen.overview(self.memory, self.stage),
            "r": self._again,
            "n": self._next,
        }
        self._open(stage)

    def run(self) -> None:
        """Until `q`, or until the terminal has gone."""
        while True:
            try:
                key = self.keys.read(PAUSE)
            except EOFError:
                return
            if key == "q":
                return
            if answer := self._answers.get(key):
                answer()
                self.screen.keys(self._passed)
            self._look()

    @property
    def _file(self) -> Path:
        return self.memory.workspace.file(self.stage)

    @property
    def _passed(self) -> bool:
        return bool(self.memory.progress.passed(self.stage.step))

    def _open(self, stage: Stage) -> None:
        self.stage = stage
        self._watched = Watched(self._file)
        self._known = ""  # the content that was judged or spoken of last
        self._tell(self.memory.open(stage))
        self.screen.opened(stage, self._file, self._passed)

    def _look(self) -> None:
        content = self._watched.look()
        if content is None or content == self._known:
            return
        self._known = content
        if content == MISSING:
            self.screen.says(f"{self.memory.workspace.missing(self.stage) or self._file}.")
        elif content.startswith(UNREADABLE):
            self.screen.says(f"{self._file} is {content}")
        else:
            self._judge()

    def _judge(self) -> None:
        with self.screen.judging(self.stage, self._file) as tell:
            others = self.memory.passed_files(self.stage)
            made = attempt(self._file, self.stage, others=others, tell=tell, place=self.place)
        # A save that came meanwhile has another hash, and is judged next.
        self._known = made.verdict.submission.sha256 or self._known
        solution = None
        if made.passed:
            solution, trouble = self.memory.passed(self.stage, made.verdict.submission.sha256)
            self._tell(trouble)
        self.screen.attempted(self.stage, made, solution)
        # What was typed while it was judged goes before the keys are offered: a key pressed at sight of the
        # offer is meant.
        self.keys.forget()
        self.screen.keys(self._passed)

    def _again(self) -> None:
        self._known = ""

    def _hint(self) -> None:
        number, trouble = self.memory.next_hint(self.stage)
        self.screen.hint(self.stage, number)
        self._tell(trouble)

    def _next(self) -> None:
        if not self._passed:
            self.screen.says(f"{self.stage.step} is not passed yet; `tilestep --step NAME` opens any stage.")
            return
        following = catalogue.after(self.stage)
        if following is None:
            self.screen.says("This is the last stage.")
            return
        self._open(following)

    def _tell(self, trouble: str) -> None:
        if trouble:
            self.screen.says(trouble)
