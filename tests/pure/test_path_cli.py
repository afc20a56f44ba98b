"""init, hint, lesson, reset and `tilestep` alone, as commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tilestep import cli as command_line
from tilestep.cli import opening
from tilestep.judge import verdict as v
from tilestep.path import catalogue
from tilestep.path.attempt import Attempt, Place
from tilestep.path.catalogue import Stage
from tilestep.path.workspace import PROGRESS_FILE, Workspace

FIRST = catalogue.stages()[0]
LAST = catalogue.stages()[-1]


def run(*words: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(command_line.cli, list(words), prog_name="tilestep", input=answer)


def one_line(text: str) -> str:
    lines = text.strip().splitlines()
    assert len(lines) == 1, text
    return lines[0]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    assert run("init", "here").exit_code == 0
    monkeypatch.chdir(tmp_path / "here")
    return Workspace(tmp_path / "here")


@pytest.fixture
def outcome(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the stand-in for the judge answers: an outcome's type, and whether the file is untouched."""
    answer: list[Any] = [v.Passed, False]

    def fake(file: Path, stage: Stage, **_: Any) -> Attempt:
        verdict = answer[0](
            submission=v.Submission(str(file), "ab"),
            step=stage.step,
            seed=1,
            target=v.TargetName("cpu", "emulator"),
            says="Says the judge.",
        )
        return Attempt(verdict, None, untouched=answer[1])

    monkeypatch.setattr(opening, "attempt", fake)
    return answer


def test_init_makes_a_folder_and_says_how_to_go_on(tmp_path: Path) -> None:
    said = one_line(run("init").stdout)
    assert said.endswith("begin with: cd tilestep-path && tilestep")
    assert (tmp_path / "tilestep-path" / PROGRESS_FILE).is_file()
    assert one_line(run("init").stdout).startswith("nothing is missing in tilestep-path")


def test_init_in_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    result = run("init", "taken")
    assert result.exit_code == 2
    assert one_line(result.stderr) == "tilestep init: taken is a file, not a folder"


def test_alone_outside_a_workspace_prints_help() -> None:
    result = run()
    assert result.exit_code == 0
    assert "init" in result.stdout


@pytest.mark.parametrize("words", [["--step", FIRST.step], ["hint"], ["lesson"], ["reset", FIRST.step]])
def test_without_a_workspace_a_sentence_says_how_to_make_one(words: list[str]) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert "`tilestep init` makes one" in one_line(result.stderr)


def test_hint_and_lesson_need_no_workspace_for_a_named_step() -> None:
    assert "hint 1/" in run("hint", FIRST.step).stdout
    assert "hint 2/" in run("hint", FIRST.step, "--number", "2").stdout
    heading = FIRST.lesson_text().splitlines()[0].removeprefix("# ")
    assert heading in run("lesson", FIRST.step).stdout


def test_hints_go_on_and_are_remembered(inside: Workspace) -> None:
    assert "hint 1/" in run("hint").stdout
    assert "hint 2/" in run("hint").stdout
    assert inside.progress.read().hints(FIRST.step) == 2
    result = run("hint", FIRST.step, "--number", "99")
    assert result.exit_code == 2
    assert "hints" in one_line(result.stderr)


@pytest.mark.parametrize("command", ["hint", "lesson", "reset"])
def test_an_unknown_step_is_told_with_what_was_meant(command: str) -> None:
    result = run(command, LAST.step[:-1])
    assert result.exit_code == 2
    assert f"no stage is called '{LAST.step[:-1]}'; did you mean {LAST.step}" in one_line(result.stderr)


def test_reset_asks_and_keeps_a_copy(inside: Workspace) -> None:
    file = inside.file(FIRST)
    file.write_text("mine", encoding="utf-8")
    result = run("reset", FIRST.step, answer="n\n")
    assert result.exit_code == 1
    assert "nothing was changed" in result.stdout
    assert file.read_text(encoding="utf-8") == "mine"
    result = run("reset", FIRST.step, answer="y\n")
    assert result.exit_code == 0
    assert file.read_text(encoding="utf-8") == FIRST.starter_text()
    kept = file.with_name(f"{file.stem}.before-reset.cu")
    assert kept.name in result.stdout
    assert kept.read_text(encoding="utf-8") == "mine"


def test_reset_with_nobody_to_ask(inside: Workspace) -> None:
    inside.file(FIRST).write_text("mine", encoding="utf-8")
    result = run("reset", FIRST.step, answer="")
    assert result.exit_code == 2
    assert "--yes resets without asking" in result.stderr
    assert inside.file(FIRST).read_text(encoding="utf-8") == "mine"
    assert run("reset", FIRST.step, "--yes").exit_code == 0


def test_reset_keeps_what_is_done(inside: Workspace) -> None:
    inside.progress.update(lambda p: p.passing(FIRST.step, "ab"))
    run("reset", FIRST.step, "--yes")
    assert inside.progress.read().passed(FIRST.step)


def test_alone_without_a_terminal_judges_once_in_plain_lines(inside: Workspace, outcome: list[Any]) -> None:
    result = run()
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
    assert "Says the judge." in result.stdout
    assert f"Stage {FIRST.number} is passed." in result.stdout
    assert inside.progress.read().passed(FIRST.step)
    assert inside.solution(FIRST).exists()
    result = run()
    assert catalogue.stages()[1].title in result.stdout, "it goes on with the next stage"


def test_alone_it_judges_where_the_environment_says(
    inside: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    places: list[str] = []

    def fake(file: Path, stage: Stage, *, place: Place, **_: Any) -> Attempt:
        places.append(place.name)
        verdict = v.Broken(
            submission=v.Submission(str(file), "ab"),
            step=stage.step,
            seed=1,
            target=v.TargetName("cpu", "emulator"),
            says="Says the judge.",
        )
        return Attempt(verdict, None, untouched=False, target=place.name)

    monkeypatch.setattr(opening, "attempt", fake)
    for target in ("cpu", "gpu", "both", "auto", ""):
        monkeypatch.setenv("TILESTEP_TARGET", target)
        run()
    monkeypatch.delenv("TILESTEP_TARGET")
    run()
    assert places == ["cpu", "gpu", "both", "cpu", "cpu", "cpu"]
    monkeypatch.setenv("TILESTEP_TARGET", "abacus")
    result = run()
    assert (result.exit_code, result.stdout) == (2, "")
    says = "tilestep: TILESTEP_TARGET is 'abacus' in the environment, and not one of auto, cpu, gpu, both"
    assert one_line(result.stderr) == says


def test_alone_with_a_file_that_does_not_pass(inside: Workspace, outcome: list[Any]) -> None:
    outcome[0] = v.Broken
    assert run().exit_code == 2
    assert not inside.progress.read().passed(FIRST.step)
    assert not inside.solution(FIRST).exists()


def test_a_starter_that_passes_is_no_pass(inside: Workspace, outcome: list[Any]) -> None:
    outcome[1] = True
    result = run("--step", "causal-attention")
    assert result.exit_code == 1
    assert "This is the starter's code still." in result.stdout
    assert not inside.progress.read().passed("causal-attention")


def test_alone_with_a_deleted_file(inside: Workspace, outcome: list[Any]) -> None:
    inside.file(FIRST).unlink()
    result = run()
    assert result.exit_code == 2
    assert f"`tilestep reset {FIRST.step}` brings its starter back" in one_line(result.stderr)


def test_alone_with_damaged_progress(inside: Workspace, outcome: list[Any]) -> None:
    (inside.root / PROGRESS_FILE).write_text("{", encoding="utf-8")
    result = run()
    assert result.exit_code == 0
    assert "was damaged" in " ".join(result.stdout.split())
    assert json.loads((inside.root / PROGRESS_FILE).read_text(encoding="utf-8"))["stages"]


def test_alone_with_the_progress_of_a_newer_version(inside: Workspace) -> None:
    (inside.root / PROGRESS_FILE).write_text('{"format_version": 9}', encoding="utf-8")
    result = run()
    assert result.exit_code == 2
    assert "update tilestep" in one_line(result.stderr)
    assert (inside.root / PROGRESS_FILE).read_text(encoding="utf-8") == '{"format_version": 9}'
