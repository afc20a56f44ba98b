"""The progress file: crashes, old and new versions, damage, and two terminals."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from tilestep.path.progress import FORMAT_VERSION, Damaged, Progress, ProgressFile, TooNew, free_name, parse


@pytest.fixture
def file(tmp_path: Path) -> ProgressFile:
    return ProgressFile(tmp_path / "progress.json")


def test_what_is_written_is_read(file: ProgressFile) -> None:
    assert file.read() == Progress()
    written = file.update(lambda p: p.opening("rope").passing("block-sum", "ab12").hinting("rope", 2))
    assert file.read() == written
    assert written.current == "rope"
    assert written.passed("block-sum").endswith("Z")
    assert not written.passed("rope")
    assert (written.hints("rope"), written.hints("block-sum")) == (2, 0)
    document = json.loads(file.path.read_text(encoding="utf-8"))
    assert document["format_version"] == FORMAT_VERSION
    assert document["stages"]["block-sum"]["sha256"] == "ab12"


def test_the_time_of_the_first_pass_stands_and_hints_never_go_back() -> None:
    first = Progress().passing("rope", "first").hinting("rope", 3)
    again = first.passing("rope", "second")
    assert again.passed("rope") == first.passed("rope")
    assert first.passed_with("rope", "first")
    assert again.passed_with("rope", "second")
    assert not again.passed_with("rope", "first")
    assert not again.passed_with("swiglu", "")
    assert first.hinting("rope", 1).hints("rope") == 3


def test_a_change_never_changes_what_it_came_from() -> None:
    before = Progress().hinting("rope", 1)
    text = before.text()
    before.passing("rope", "ab").opening("rope").hinting("rope", 9)
    assert before.text() == text


@pytest.mark.parametrize(
    "old",
    [
        "{}",
        '{"stages": {"rope": {}}}',
        '{"format_version": 1, "stages": {"rope": {"passed": "2020-01-01T00:00:00Z"}}}',
        '{"current": "rope"}',
    ],
)
def test_a_file_of_an_older_version_lacks_keys(file: ProgressFile, old: str) -> None:
    file.path.write_text(old, encoding="utf-8")
    before = file.read()
    after = file.update(lambda p: p.hinting("swiglu", 1))
    assert after.hints("swiglu") == 1
    assert after.passed("rope") == before.passed("rope")
    assert after.current == before.current


def test_what_this_version_does_not_know_is_kept(file: ProgressFile) -> None:
    strange = {
        "format_version": 1,
        "colour": "green",
        "stages": {"flash-attention-9": {"passed": "2020-01-01T00:00:00Z", "speed": 3.5}},
    }
    file.path.write_text(json.dumps(strange), encoding="utf-8")
    file.update(lambda p: p.passing("rope", "ab"))
    document = json.loads(file.path.read_text(encoding="utf-8"))
    assert document["colour"] == "green"
    assert document["stages"]["flash-attention-9"] == strange["stages"]["flash-attention-9"]  # type: ignore[index]
    assert "rope" in document["stages"]


def test_a_newer_file_is_left_alone(file: ProgressFile) -> None:
    file.path.write_text('{"format_version": 99}', encoding="utf-8")
    with pytest.raises(TooNew, match="format 99, and this tilestep knows 1: update tilestep"):
        file.update(lambda p: p.passing("rope", "ab"))
    assert file.path.read_text(encoding="utf-8") == '{"format_version": 99}'


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '"text"', '{"stages": []}', '{"stages": {"rope": 1}}', '{"format_version": "one"}'],
)
def test_damage_is_told(text: str) -> None:
    with pytest.raises(Damaged):
        parse(text)


def test_bytes_that_are_no_text_are_damage(file: ProgressFile) -> None:
    file.path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(Damaged, match="UTF-8"):
        file.read()


def test_a_damaged_file_is_kept_aside_every_time(file: ProgressFile) -> None:
    for text in ("{", "}"):
        file.path.write_text(text, encoding="utf-8")
        assert file.replace_damaged(Progress()).read_text(encoding="utf-8") == text
    assert len(list(file.path.parent.glob("*damaged*"))) == 2
    assert file.read() == Progress()


def test_a_failing_write_leaves_the_old_file(file: ProgressFile, monkeypatch: pytest.MonkeyPatch) -> None:
    file.update(lambda p: p.passing("rope", "ab"))
    before = file.path.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        file.update(lambda p: p.passing("swiglu", "cd"))
    assert file.path.read_bytes() == before
    assert list(file.path.parent.iterdir()) == [file.path]


CRASH = """
import os, sys
from pathlib import Path
from tilestep.path.progress import ProgressFile
os.replace = lambda *_: os._exit(9)  # everything is written, nothing is renamed yet
ProgressFile(Path(sys.argv[1])).update(lambda p: p.passing("swiglu", "cd"))
"""


def test_a_crash_while_it_is_written_loses_nothing(file: ProgressFile) -> None:
    before = file.update(lambda p: p.passing("rope", "ab"))
    ended = subprocess.run([sys.executable, "-c", CRASH, str(file.path)], check=False)
    assert ended.returncode == 9
    (left,) = set(file.path.parent.iterdir()) - {file.path}
    assert file.read() == before
    os.utime(left, (time.time() - 3600, time.time() - 3600))
    file.update(lambda p: p.passing("swiglu", "cd"))
    assert list(file.path.parent.iterdir()) == [file.path]
    assert file.read().passed("rope")


ONE_WRITER = """
import sys
from pathlib import Path
from tilestep.path.progress import ProgressFile
for number in range(25):
    ProgressFile(Path(sys.argv[1])).update(lambda p: p.passing(f"{sys.argv[2]}-{number}", "ab"))
"""


def test_two_terminals_lose_nothing_of_each_other(file: ProgressFile) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", ONE_WRITER, str(file.path), name])
        for name in ("left", "right")
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    assert len(file.read().steps()) == 50


def test_a_folder_that_cannot_be_written_is_an_error_of_the_system(
    file: ProgressFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(tempfile, "mkstemp", read_only)
    with pytest.raises(OSError, match="Read-only"):
        file.update(lambda p: p.passing("rope", "ab"))


def test_locks_that_a_file_system_lacks_are_done_without(
    file: ProgressFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def no_locks(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    assert file.update(lambda p: p.passing("rope", "ab")).passed("rope")
    assert file.read().passed("rope")


def test_free_names(tmp_path: Path) -> None:
    names = []
    for _ in range(3):
        path = free_name(tmp_path / "kernel.before-reset.cu")
        path.touch()
        names.append(path.name)
    assert names == ["kernel.before-reset.cu", "kernel.before-reset-2.cu", "kernel.before-reset-3.cu"]
