"""The cache of compiled files: made once, atomic, bounded."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from tilestep.emulator.cache import Cache, default_folder, digest


def test_a_file_is_made_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    made = []

    def make(to: Path) -> None:
        made.append(to)
        to.write_text("object")

    first = cache.get_or_make("name", make)
    assert cache.get_or_make("name", make) == first
    assert first.read_text() == "object"
    assert len(made) == 1


def test_threads_that_want_the_same_file_wait_for_it(tmp_path: Path) -> None:
    made = []

    def make(to: Path) -> None:
        made.append(to)
        time.sleep(0.05)
        to.write_text("object")

    wanting = [threading.Thread(target=lambda: Cache(tmp_path).get_or_make("name", make)) for _ in range(4)]
    for thread in wanting:
        thread.start()
    for thread in wanting:
        thread.join()
    assert len(made) == 1


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def make(to: Path) -> None:
        to.write_text("half")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        cache.get_or_make("name", make)
    assert cache.get("name") is None
    assert list(cache.objects.iterdir()) == []


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit_bytes=4000)
    now = time.time()
    for age in range(6):
        cache.get_or_make(f"file{age}", lambda to: to.write_bytes(b"x" * 600) and None)
        os.utime(cache.objects / f"file{age}", (now - 10_000 + age, now - 10_000 + age))
    assert cache.get("file0") is not None  # used now
    cache.get_or_make("last", lambda to: to.write_bytes(b"x" * 600) and None)
    left = {path.name for path in cache.objects.iterdir()}
    assert left == {"file0", "file3", "file4", "file5", "last"}


def test_young_files_stay(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit_bytes=1000)
    for number in range(4):
        cache.get_or_make(f"file{number}", lambda to: to.write_bytes(b"x" * 600) and None)
    assert len(list(cache.objects.iterdir())) == 4
    assert cache.size_bytes() == 2400


def test_digests_keep_their_parts_apart() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("a") == digest(b"a")
    assert digest("\udce9") != digest("e")  # undecodable names from the command line


def test_the_environment_chooses_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILESTEP_CACHE", str(tmp_path / "here"))
    assert default_folder() == tmp_path / "here"
    monkeypatch.delenv("TILESTEP_CACHE")
    assert default_folder().name == "tilestep"
