"""Watching one file by its content, with a clock that the test turns."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tilestep.path.watching import MISSING, PAUSE, SETTLE, UNREADABLE, Watched


class Clock:
    """Seconds that pass only when the test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.cu"
    path.write_text("one", encoding="utf-8")
    return path


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def looks(watched: Watched, clock: Clock, count: int) -> list[str | None]:
    found = []
    for _ in range(count):
        found.append(watched.look())
        clock.now += PAUSE + 0.001
    return found


def test_a_content_counts_when_two_looks_have_found_it(file: Path, clock: Clock) -> None:
    assert looks(Watched(file, clock), clock, 3) == [None, sha256("one"), sha256("one")]


def test_looks_in_quick_succession_are_one(file: Path, clock: Clock) -> None:
    watched = Watched(file, clock)
    assert [watched.look(), watched.look(), watched.look()] == [None, None, None]


def test_a_file_that_is_being_written_waits(file: Path, clock: Clock) -> None:
    watched = Watched(file, clock)
    looks(watched, clock, 2)
    for text in ("tw", "two ", "two an", "two and a half"):
        file.write_text(text, encoding="utf-8")
        assert looks(watched, clock, 1) == [None]
    assert looks(watched, clock, 1) == [sha256("two and a half")]


def test_a_moment_without_a_file_is_an_editor_that_saves(file: Path, clock: Clock) -> None:
    watched = Watched(file, clock)
    looks(watched, clock, 2)
    file.unlink()
    assert looks(watched, clock, 3) == [None, None, None]
    file.write_text("new", encoding="utf-8")
    assert looks(watched, clock, 2) == [None, sha256("new")]


def test_a_moment_of_emptiness_is_an_editor_that_saves(file: Path, clock: Clock) -> None:
    watched = Watched(file, clock)
    file.write_text("\n", encoding="utf-8")
    assert set(looks(watched, clock, int(SETTLE / PAUSE) - 1)) == {None}
    clock.now += SETTLE
    assert watched.look() == sha256("\n")


def test_a_file_that_stays_away_is_missing(file: Path, clock: Clock) -> None:
    watched = Watched(file, clock)
    file.unlink()
    assert watched.look() is None
    clock.now += SETTLE + 0.1
    assert watched.look() == MISSING


def test_a_file_that_cannot_be_read_says_why(
    file: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_: Any) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    watched = Watched(file, clock)
    watched.look()
    clock.now += SETTLE + 0.1
    assert watched.look() == f"{UNREADABLE}Permission denied"


def test_a_slow_file_system_is_asked_less_often(
    file: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def slow(_: Any) -> bytes:
        asked.append(clock.now)
        clock.now += 2.0
        return b"one"

    monkeypatch.setattr(Path, "read_bytes", slow)
    watched = Watched(file, clock)
    looks(watched, clock, 200)
    assert len(asked) >= 2
    assert all(later - earlier >= 5 * 2.0 for earlier, later in pairwise(asked))


def test_the_same_content_under_another_time_is_no_save(file: Path, clock: Clock) -> None:
    watched = Watched(file, clock)
    before = looks(watched, clock, 2)[-1]
    file.write_text("one", encoding="utf-8")
    assert looks(watched, clock, 2) == [before, before]
