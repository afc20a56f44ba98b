"""A session: saves are judged, keys are answered, a pass is remembered. The judge is a stand-in here."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from tilestep.judge import verdict as v
from tilestep.path import attempt as attempts
from tilestep.path import catalogue
from tilestep.path import session as sessions
from tilestep.path.attempt import Attempt
from tilestep.path.catalogue import Stage
from tilestep.path.memory import Memory
from tilestep.path.session import Session
from tilestep.path.watching import Watched
from tilestep.path.workspace import Workspace, create

STAGES = catalogue.stages()


class Screen:
    """Notes what it is shown."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, Any]] = []

    def opened(self, stage: Stage, file: Path, passed: bool) -> None:
        self.shown.append(("opened", stage.step))

    def judging(self, stage: Stage, file: Path) -> AbstractContextManager[None]:
        return nullcontext()

    def attempted(self, stage: Stage, attempt: Attempt, solution: Path | None) -> None:
        self.shown.append(("attempted", (attempt.verdict.outcome, solution)))

    def hint(self, stage: Stage, number: int) -> None:
        self.shown.append(("hint", number))

    def lesson(self, stage: Stage) -> None:
        self.shown.append(("lesson", stage.step))

    def overview(self, memory: Memory, open_stage: Stage) -> None:
        self.shown.append(("overview", open_stage.step))

    def keys(self, passed: bool) -> None:
        pass

    def says(self, sentence: str) -> None:
        self.shown.append(("says", sentence))

    def all(self, kind: str) -> list[Any]:
        return [what for name, what in self.shown if name == kind]


class Script:
    """Keys and deeds in turn, a second apart; then `q`. Between two of them a save has time to settle."""

    now = 0.0

    def __init__(self, steps: list[str | Callable[[], Any]]) -> None:
        self.left = [entry for step in steps for entry in (step, "", "", "")]
        self.forgotten = 0

    def read(self, _: float) -> str:
        Script.now += 1
        if not self.left:
            return "q"
        step = self.left.pop(0)
        if isinstance(step, str):
            return step
        step()
        return ""

    def forget(self) -> None:
        self.forgotten += 1


class Place:
    """A workspace with a stand-in for the judge, whose next outcome is `outcome`."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.outcome = "passed"
        self.judged: list[str] = []
        self.screen = Screen()

    def attempt(self, file: Path, stage: Stage, **_: Any) -> Attempt:
        self.judged.append(file.read_text(encoding="utf-8"))
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        facts: dict[str, Any] = {
            "submission": v.Submission(str(file), sha256),
            "step": stage.step,
            "seed": 1,
            "target": v.TargetName("cpu", "emulator"),
            "says": "A sentence.",
        }
        if self.outcome == "passed":
            return Attempt(v.Passed(**facts), None, untouched=False)
        return Attempt(v.Broken(**facts), stage.quick, untouched=False)

    def run(self, *steps: str | Callable[[], Any], stage: Stage = STAGES[0]) -> Memory:
        memory = Memory(self.workspace)
        script = Script(["", *steps])
        Session(memory, stage, self.screen, script).run()  # type: ignore[arg-type]
        return memory

    def save(self, text: str, stage: Stage = STAGES[0]) -> Callable[[], Any]:
        return lambda: self.workspace.file(stage).write_text(text, encoding="utf-8")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    create(tmp_path / "path")
    made = Place(Workspace(tmp_path / "path"))
    monkeypatch.setattr(sessions, "attempt", made.attempt)
    monkeypatch.setattr(sessions, "Watched", lambda path: Watched(path, lambda: Script.now))
    return made


def test_every_save_is_judged_once(place: Place) -> None:
    place.outcome = "broken"
    place.run(place.save("one"), place.save("one"), "x", place.save("two"))
    assert place.judged == [STAGES[0].starter_text(), "one", "two"]


def test_r_judges_again(place: Place) -> None:
    place.outcome = "broken"
    place.run("r")
    assert len(place.judged) == 2


def test_a_pass_is_remembered_and_unlocks_the_solution(place: Place) -> None:
    place.run()
    ((outcome, solution),) = place.screen.all("attempted")
    assert outcome == "passed"
    assert solution == place.workspace.solution(STAGES[0])
    assert solution.read_text(encoding="utf-8") == STAGES[0].solution_text()
    progress = place.workspace.progress.read()
    assert progress.passed(STAGES[0].step)
    assert progress.current == STAGES[0].step


def test_n_goes_on_only_after_a_pass(place: Place) -> None:
    place.outcome = "broken"
    place.run("n")
    assert place.screen.all("opened") == [STAGES[0].step]
    assert "is not passed yet" in place.screen.all("says")[0]
    place.outcome = "passed"
    place.run("r", "n")
    assert place.screen.all("opened")[-1] == STAGES[1].step
    assert place.workspace.progress.read().current == STAGES[1].step


def test_behind_the_last_stage_there_is_none(place: Place) -> None:
    place.run("n", stage=STAGES[-1])
    assert place.screen.all("says") == ["This is the last stage."]


def test_keys_show_hints_the_lesson_and_the_list(place: Place) -> None:
    place.run("h", "h", "l", "a")
    assert place.screen.all("hint") == [1, 2]
    assert place.screen.all("lesson") == place.screen.all("overview") == [STAGES[0].step]
    place.run("h")
    assert place.screen.all("hint")[-1] == 3


def test_a_file_that_goes_and_comes_back(place: Place) -> None:
    place.outcome = "broken"
    file = place.workspace.file(STAGES[0])
    place.run(file.unlink, "", place.save("back"))
    (says,) = place.screen.all("says")
    assert "is not there" in says
    assert place.judged[-1] == "back"


def test_a_save_while_it_is_judged_is_judged_next(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    file = place.workspace.file(STAGES[0])
    plain = place.attempt

    def slow(path: Path, stage: Stage, **options: Any) -> Attempt:
        made = plain(path, stage, **options)
        if len(place.judged) == 1:
            file.write_text("saved meanwhile", encoding="utf-8")
        return made

    monkeypatch.setattr(sessions, "attempt", slow)
    place.run()
    assert place.judged == [STAGES[0].starter_text(), "saved meanwhile"]


def test_keys_pressed_while_it_judges_are_dropped(place: Place) -> None:
    script = Script([""])
    Session(Memory(place.workspace), STAGES[0], place.screen, script).run()  # type: ignore[arg-type]
    assert script.forgotten == 1


def test_a_terminal_that_has_gone_ends_the_session(place: Place) -> None:
    class Gone(Script):
        def read(self, _: float) -> str:
            raise EOFError

    Session(Memory(place.workspace), STAGES[0], place.screen, Gone([])).run()  # type: ignore[arg-type]
    assert place.judged == []


# --- one attempt --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("few", ["passed", "broken"])
def test_few_lengths_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, few: str) -> None:
    calls: list[dict[str, Any]] = []

    def fake(file: Path, step: str, **options: Any) -> v.Verdict:
        calls.append(options)
        kind: Any = v.Passed if few == "passed" else v.Broken
        return kind(  # type: ignore[no-any-return]
            submission=v.Submission(str(file), ""),
            step=step,
            seed=options["seed"],
            target=v.TargetName("cpu", "emulator"),
            says="A sentence.",
        )

    monkeypatch.setattr(attempts, "judge", fake)
    monkeypatch.setattr(attempts, "judge_block", lambda files, **options: fake(files, "block", **options))
    stage = STAGES[0]
    made = attempts.attempt(tmp_path / stage.file, stage)
    assert (calls[0]["lengths"], calls[0]["profile"]) == (stage.quick, False)
    assert len(calls) == (2 if few == "passed" else 1)
    assert len({call["seed"] for call in calls}) == 1
    assert made.lengths == (None if few == "passed" else stage.quick)
    assert made.passed == (few == "passed")
    assert "lengths" not in calls[-1] or few == "broken"


@pytest.mark.parametrize("whole", ["passed", "wrong"])
def test_from_the_projection_on_the_whole_block_has_to_be_right(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, whole: str
) -> None:
    facts: dict[str, Any] = {
        "submission": v.Submission("kernel.cu", ""),
        "seed": 1,
        "target": v.TargetName("cpu", "emulator"),
        "says": "A sentence.",
    }
    judged: list[list[Path]] = []

    def block(files: list[Path], **_: Any) -> v.Verdict:
        judged.append(files)
        kind: Any = v.Passed if whole == "passed" else v.Broken
        return kind(step="block", **facts)  # type: ignore[no-any-return]

    monkeypatch.setattr(attempts, "judge", lambda file, step, **_: v.Passed(step=step, **facts))
    monkeypatch.setattr(attempts, "judge_block", block)
    other = tmp_path / "rmsnorm.cu"
    for step in ("swiglu", "qkv-projection"):
        stage = catalogue.stage(step)
        made = attempts.attempt(tmp_path / stage.file, stage, others=[other])
        assert made.passed == (step == "swiglu" or whole == "passed")
        assert (made.exit_code == 0) == made.passed
    assert judged == [[other, tmp_path / catalogue.stage("qkv-projection").file]]


def test_layout_and_comments_are_not_code(tmp_path: Path) -> None:
    file = tmp_path / "kernel.cu"
    text = "#define N 4\n__global__ void f() { int x = N; } // TODO\n"
    file.write_text("/* mine */\n#define N 4\n__global__ void f()\n{\n  int x = N;\n}\n", encoding="utf-8")
    assert attempts.same_code(file, text)
    file.write_text(text.replace("N 4", "N 5"), encoding="utf-8")
    assert not attempts.same_code(file, text)
    file.write_text(text.replace("= N", "= N + 1"), encoding="utf-8")
    assert not attempts.same_code(file, text)
    assert not attempts.same_code(tmp_path / "absent.cu", text)
