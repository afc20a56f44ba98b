"""The workspace: what it makes, what it never touches, and the sentence for everything that is not there."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from tilestep.path import catalogue, workspace
from tilestep.path.memory import Memory
from tilestep.path.progress import Progress, ProgressFile
from tilestep.path.watching import file_hash
from tilestep.path.workspace import PROGRESS_FILE, Workspace, WorkspaceError, create, find

STAGE = catalogue.stages()[-1]


@pytest.fixture
def made(tmp_path: Path) -> Workspace:
    create(tmp_path / "path")
    return Workspace(tmp_path / "path")


def read_only(*_: Any, **__: Any) -> None:
    raise OSError(errno.EROFS, "Read-only file system")


def test_a_new_workspace_holds_every_starter(tmp_path: Path) -> None:
    assert create(tmp_path / "deep" / "path") == catalogue.stages()
    made = Workspace(tmp_path / "deep" / "path")
    for stage in catalogue.stages():
        assert made.file(stage).read_text(encoding="utf-8") == stage.starter_text()
    assert len((made.root / "README.md").read_text(encoding="utf-8").splitlines()) <= 8
    assert made.progress.read() == Progress()
    assert find(made.file(STAGE).parent) == made
    assert find(tmp_path) is None


def test_making_it_again_touches_nothing(made: Workspace) -> None:
    made.file(STAGE).write_text("mine", encoding="utf-8")
    (made.root / "README.md").write_text("my notes", encoding="utf-8")
    made.progress.update(lambda p: p.passing(STAGE.step, "ab"))
    assert create(made.root) == ()
    assert made.file(STAGE).read_text(encoding="utf-8") == "mine"
    assert (made.root / "README.md").read_text(encoding="utf-8") == "my notes"
    assert made.progress.read().passed(STAGE.step)


def test_a_workspace_of_an_older_version_gets_the_stages_that_it_lacks(made: Workspace) -> None:
    made.file(STAGE).unlink()
    made.file(STAGE).parent.rmdir()
    assert create(made.root) == (STAGE,)
    assert made.file(STAGE).exists()


def test_a_stage_that_a_newer_version_brought_is_made_when_it_is_opened(made: Workspace) -> None:
    made.file(STAGE).unlink()
    made.file(STAGE).parent.rmdir()
    says = Memory(made).open(STAGE)
    assert "was not there: its starter is in it now" in says
    assert made.file(STAGE).exists()


def test_no_workspace_inside_a_workspace(made: Workspace) -> None:
    with pytest.raises(WorkspaceError, match="lies inside the workspace"):
        create(made.root / "inner")
    assert not (made.root / "inner").exists()


def test_no_workspace_in_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    with pytest.raises(WorkspaceError, match="is a file, not a folder"):
        create(tmp_path / "taken")
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "a file"


def test_no_workspace_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "mkdir", read_only)
    with pytest.raises(WorkspaceError, match="cannot be made a workspace: Read-only file system"):
        create(tmp_path / "path")


def test_reset_keeps_what_was_written(made: Workspace) -> None:
    file = made.file(STAGE)
    assert made.reset(STAGE) is None, "the starter itself needs no copy"
    for text in ("first", "second"):
        file.write_text(text, encoding="utf-8")
        backup = made.reset(STAGE)
        assert backup is not None
        assert backup.read_text(encoding="utf-8") == text
        assert file.read_text(encoding="utf-8") == STAGE.starter_text()


def test_reset_brings_back_what_is_gone(made: Workspace) -> None:
    made.file(STAGE).unlink()
    made.file(STAGE).parent.rmdir()
    assert made.reset(STAGE) is None
    assert made.file(STAGE).read_text(encoding="utf-8") == STAGE.starter_text()


def test_reset_in_a_read_only_folder_is_a_sentence(made: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    made.file(STAGE).write_text("mine", encoding="utf-8")
    monkeypatch.setattr(Path, "rename", read_only)
    with pytest.raises(WorkspaceError, match="cannot be reset: Read-only file system"):
        made.reset(STAGE)
    assert made.file(STAGE).read_text(encoding="utf-8") == "mine"


def test_a_deleted_file_is_told_with_the_way_back(made: Workspace) -> None:
    assert made.missing(STAGE) == ""
    made.file(STAGE).unlink()
    assert f"`tilestep reset {STAGE.step}` brings its starter back" in made.missing(STAGE)


def test_a_renamed_file_is_told_by_its_new_name(made: Workspace) -> None:
    made.unlock(STAGE)
    made.file(STAGE).rename(made.file(STAGE).with_name("better.cu"))
    assert f"if better.cu is your file, rename it to {STAGE.file}" in made.missing(STAGE)


def test_a_solution_never_overwrites(made: Workspace) -> None:
    first = made.unlock(STAGE)
    assert first is not None
    assert first.read_text(encoding="utf-8") == STAGE.solution_text()
    first.write_text("my notes", encoding="utf-8")
    assert made.unlock(STAGE) is None
    assert first.read_text(encoding="utf-8") == "my notes"


def test_a_solution_that_cannot_be_written_is_done_without(made: Workspace) -> None:
    made.file(STAGE).unlink()
    made.file(STAGE).parent.rmdir()
    assert made.unlock(STAGE) is None


# --- what a session remembers -------------------------------------------------------------------------------


def test_it_begins_with_the_first_stage_and_goes_on_where_it_was(made: Workspace) -> None:
    stages = catalogue.stages()
    memory = Memory(made)
    assert memory.start() == stages[0]
    memory.open(stages[1])
    assert Memory(made).start() == stages[1]
    assert memory.start(stages[0].step) == stages[0]
    memory.passed(stages[0], "ab")
    memory.passed(stages[1], "ab")
    expected = stages[2] if len(stages) > 2 else stages[1]
    assert Memory(made).start() == expected


def test_an_open_step_that_is_unknown_is_passed_over_and_kept(made: Workspace) -> None:
    made.progress.update(lambda p: p.opening("a-step-of-tomorrow"))
    assert Memory(made).start() == catalogue.stages()[0]
    assert made.progress.read().current == "a-step-of-tomorrow"


def test_damaged_progress_is_rebuilt_from_the_solutions(made: Workspace) -> None:
    memory = Memory(made)
    memory.passed(STAGE, "ab")
    (made.root / PROGRESS_FILE).write_text('{"stages": {', encoding="utf-8")
    again = Memory(made)
    assert "was damaged" in again.trouble
    assert "1 passed stage." in again.trouble
    assert again.progress.passed(STAGE.step)
    assert list(made.root.glob("*damaged*"))
    assert made.progress.read().passed(STAGE.step)


def test_progress_that_is_damaged_meanwhile_does_not_lose_the_pass(made: Workspace) -> None:
    memory = Memory(made)
    (made.root / PROGRESS_FILE).write_text("}", encoding="utf-8")
    _, trouble = memory.passed(STAGE, "ab")
    assert "was damaged" in trouble
    assert made.progress.read().passed(STAGE.step)


def test_progress_of_a_newer_version_is_a_sentence(made: Workspace) -> None:
    (made.root / PROGRESS_FILE).write_text('{"format_version": 7}', encoding="utf-8")
    with pytest.raises(WorkspaceError, match="is left alone: it has format 7"):
        Memory(made)


def test_a_read_only_workspace_remembers_in_memory_and_says_so_once(
    made: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ProgressFile, "_write", read_only)
    memory = Memory(made)
    says = memory.open(STAGE)
    assert "cannot be kept" in says
    assert "Read-only file system" in says
    _, trouble = memory.passed(STAGE, "ab")
    assert trouble == ""
    assert memory.progress.passed(STAGE.step)
    assert [memory.next_hint(STAGE)[0] for _ in range(2)] == [1, 2]


def test_the_last_hint_stays(made: Workspace) -> None:
    memory = Memory(made)
    count = len(STAGE.hints())
    assert [memory.next_hint(STAGE)[0] for _ in range(count + 2)] == [*range(1, count + 1), count, count]
    assert made.progress.read().hints(STAGE.step) == count


def test_the_block_is_made_of_the_files_that_passed_and_have_not_changed(made: Workspace) -> None:
    norm, swiglu, rope, causal, online, total = map(
        catalogue.stage,
        ("rmsnorm", "swiglu", "rope", "causal-attention", "online-attention", "block-sum"),
    )
    memory = Memory(made)
    for stage in (norm, swiglu, rope, causal, total):
        memory.passed(stage, file_hash(made.file(stage)))
    made.file(swiglu).write_text("edited since", encoding="utf-8")
    assert memory.passed_files(causal) == (made.file(norm), made.file(rope))
    assert memory.passed_files(online) == (made.file(norm), made.file(rope)), "one seam, one file"
    made.file(norm).unlink()
    assert memory.passed_files(rope) == (made.file(causal),)
    memory.passed(online, file_hash(made.file(online)))
    assert memory.passed_files(rope) == (made.file(online),)


def test_another_terminals_pass_is_seen(made: Workspace) -> None:
    left, right = Memory(made), Memory(made)
    first, last = catalogue.stages()[0], STAGE
    left.passed(first, "ab")
    right.passed(last, "cd")
    assert right.progress.passed(first.step)
    assert workspace.find(made.root) == made
