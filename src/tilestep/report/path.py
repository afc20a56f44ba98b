"""The path as it is shown: both paths with what is done, verdicts, hints and lessons."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from tilestep import contract
from tilestep.contract import Step
from tilestep.judge import Progress as Judging
from tilestep.path import catalogue
from tilestep.path.attempt import Attempt, shown
from tilestep.path.catalogue import Stage
from tilestep.path.memory import Memory
from tilestep.path.progress import Progress
from tilestep.report import console as consoles
from tilestep.report.console import mark, show_rows, show_text
from tilestep.report.markdown import inline, show_markdown
from tilestep.report.progress import showing
from tilestep.report.tables import step_says
from tilestep.report.terminal import show_verdict

KEYS = (("h", "hint"), ("l", "lesson"), ("a", "list"), ("r", "run again"), ("n", "next"), ("q", "quit"))


class Terminal:
    """Shows a session, on a terminal or as plain lines."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or consoles.stdout()

    def opened(self, stage: Stage, file: Path, passed: bool) -> None:
        """The stage and the file to edit."""
        self._head(stage, file)
        if passed:
            self.console.print("You have passed this stage.")

    def judging(self, stage: Stage, file: Path) -> AbstractContextManager[Callable[[Judging], None] | None]:
        """On a terminal a fresh screen with a bar; nothing elsewhere."""
        if self.console.is_terminal:
            self.console.clear()
            self._head(stage, file)
        return showing(consoles.stderr(), file.name)

    def _head(self, stage: Stage, file: Path) -> None:
        self.console.print()
        last = catalogue.stages()[-1].number
        self.console.print(
            Text.assemble((f"{stage.number}/{last}  ", "quiet"), (stage.title, "bold"), f"   {stage.path}")
        )
        self.console.print()
        show_rows([(Text("edit", style="label"), Text(str(shown(file)), style="place"))], self.console, 14)

    def attempted(self, stage: Stage, attempt: Attempt, solution: Path | None) -> None:
        """The verdict, then what it means for the stage."""
        verdict = attempt.verdict
        if verdict.cases or verdict.findings:
            show_verdict(verdict, self.console, attempt.lengths, attempt.target)
        else:
            self.console.print()
            self.says(verdict.says)
        if attempt.block is not None:
            show_verdict(attempt.block, self.console, None, attempt.target)
        if attempt.passed:
            self._passed(stage, solution)
        elif verdict.outcome == "passed" and attempt.untouched:
            self.says(
                f"This is the starter's code still. {stage.because} `tilestep lesson` says what is asked."
            )

    def _passed(self, stage: Stage, solution: Path | None) -> None:
        words = [f"Stage {stage.number} is passed."]
        if solution is not None:
            words.append(f"Our solution is in {shown(solution)} now.")
        following = catalogue.after(stage)
        words.append(f"Next: {following.title}." if following else "That was the last stage of the path.")
        self.says(" ".join(words))

    def hint(self, stage: Stage, number: int) -> None:
        """One hint, and how many there are."""
        hints = stage.hints()
        self.console.print()
        show_rows(
            [(Text(f"hint {number}/{len(hints)}", style="label"), inline(hints[number - 1]))],
            self.console,
            14,
        )

    def lesson(self, stage: Stage) -> None:
        """The whole lesson."""
        self.console.print()
        show_markdown(stage.lesson_text(), self.console)
        self.console.print()

    def overview(self, memory: Memory, open_stage: Stage) -> None:
        """Both paths, and what is done."""
        show_paths(self.console, memory.progress, open_stage)

    def keys(self, passed: bool) -> None:
        """The keys; `n` only after a pass."""
        line = Text()
        for key, name in KEYS:
            if key != "n" or passed:
                line.append(f"{key} ", style="bold").append(f"{name}   ", style="quiet")
        line.rstrip()
        self.console.print()
        self.console.print(line)

    def says(self, sentence: str) -> None:
        """One sentence."""
        show_text(inline(sentence), self.console)


def show_paths(console: Console, progress: Progress | None, open_stage: Stage | None) -> None:
    """Every step under its path, with a mark for what is passed; without a workspace, no marks."""
    margin = max(len(step.name) for step in contract.STEPS) + 9
    for path, steps in groupby(contract.STEPS, key=lambda step: step.path):
        console.print()
        console.print(Text(catalogue.titles()[path], style="bold"))
        show_rows(((_label(s, progress, open_stage, console), step_says(s)) for s in steps), console, margin)


def _label(step: Step, progress: Progress | None, open_stage: Stage | None, console: Console) -> Text:
    done = progress is not None and bool(progress.passed(step.name))
    is_open = open_stage is not None and step.name == open_stage.step
    sign = mark(console, True) if done else ">" if is_open else ""
    return Text.assemble(
        (sign.ljust(3), "good" if done else "bold"), (f"{step.number:2}  ", "quiet"), (step.name, "code")
    )


def done_json(step: str, progress: Progress | None, open_stage: Stage | None) -> dict[str, Any]:
    """What is done of a step, for programs: the time of its first pass, null before it."""
    return {
        "passed": (progress.passed(step) or None) if progress else None,
        "open": open_stage is not None and step == open_stage.step,
    }
