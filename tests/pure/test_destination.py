"""Files that a person names for output: nothing that somebody may want to keep is ever replaced."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tilestep import destination
from tilestep.cli import cli, options
from tilestep.judge.evidence import is_bundle
from tilestep.report.png import SIGNATURE
from tilestep.report.trace import is_trace

WORDS = ("--step", "online-attention", "--lengths", "2", "--seed", "3", "--target", "gpu")


def judge(file: Path, place: str | Path) -> Result:
    return CliRunner().invoke(
        cli, ["judge", str(file), *WORDS, "--evidence", str(place)], prog_name="tilestep"
    )


@pytest.fixture
def on_gpu(clock: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(options.TARGETS, "gpu", clock)


@pytest.fixture
def nobody_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> Any:
        raise AssertionError("nothing may be judged")

    monkeypatch.setitem(options.TARGETS, "gpu", never)


def a_verdict(path: Path) -> None:
    """What `judge --json` prints has a schema and a submission, and is no bundle."""
    path.write_text(json.dumps({"schema": 1, "submission": {}, "outcome": "passed"}))


PLACES: dict[str, tuple[Callable[[Path], object], str]] = {
    "pipe.json": (os.mkfifo, "is not a regular file"),
    "link.json": (lambda path: path.symlink_to("/dev/null"), "is not a regular file"),
    "notes.txt": (lambda path: path.write_text("mine"), "was not written by tilestep"),
    "verdict.json": (a_verdict, "was not written by tilestep"),
    "next.json": (lambda path: path.write_text('{"schema": 2}'), "was not written by tilestep"),
    "list.json": (lambda path: path.write_text("[1]"), "was not written by tilestep"),
    "empty.py": (Path.touch, "has the name of a source file"),
    "new.cu": (lambda path: None, "has the name of a source file"),
    "source.json": (
        lambda path: path.symlink_to(path.with_name("other.cu")),
        "has the name of a source file",
    ),
    "folder": (Path.mkdir, "is a directory"),
}


@pytest.mark.parametrize("name", PLACES)
def test_evidence_replaces_nothing_of_the_persons(
    nobody_judges: None, attention_file: Path, tmp_path: Path, name: str
) -> None:
    make, says = PLACES[name]
    place = tmp_path / name
    make(place)
    before = place.lstat() if os.path.lexists(place) else None
    text = place.read_bytes() if place.is_file() else b""
    result = judge(attention_file, place)
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert f"{place} {says}" in result.stderr
    after = place.lstat() if os.path.lexists(place) else None
    assert (before and before.st_ino) == (after and after.st_ino)
    assert text == (place.read_bytes() if place.is_file() else b"")


@pytest.mark.parametrize("how", ["itself", "symlink", "hard link", "another spelling"])
def test_evidence_never_takes_the_place_of_what_is_judged(
    nobody_judges: None, attention_file: Path, tmp_path: Path, how: str
) -> None:
    place = attention_file if how == "itself" else tmp_path / "out.json"
    if how == "symlink":
        place.symlink_to(attention_file)
    elif how == "hard link":
        place.hardlink_to(attention_file)
    elif how == "another spelling":
        place = tmp_path / ".." / tmp_path.name / attention_file.name
    before = attention_file.read_bytes()
    result = judge(attention_file, place)
    assert result.exit_code == 2
    assert "is the file that is judged" in result.stderr
    assert attention_file.read_bytes() == before


@pytest.mark.parametrize("place", ["", "-"])
def test_evidence_needs_a_file(nobody_judges: None, attention_file: Path, place: str) -> None:
    result = judge(attention_file, place)
    assert result.exit_code == 2
    assert result.stderr.strip() == f"tilestep judge: the evidence needs a file, and {place!r} names none"


def test_a_bundle_of_ours_and_an_empty_file_are_replaced(
    on_gpu: None, attention_file: Path, tmp_path: Path
) -> None:
    place = tmp_path / "out.json"
    place.touch()
    for _ in range(2):
        assert judge(attention_file, place).exit_code == 0
        assert is_bundle(place.read_bytes())
    assert not list(tmp_path.glob(".tilestep-*"))


def test_a_link_stays_a_link(on_gpu: None, attention_file: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "real.json", tmp_path / "out.json"
    link.symlink_to(real)
    for _ in range(2):  # first it leads to nothing
        assert judge(attention_file, link).exit_code == 0
        assert link.is_symlink()
        assert is_bundle(real.read_bytes())
    assert not list(real.parent.glob(".tilestep-*"))


def test_a_file_that_appears_while_it_is_judged_is_kept(
    clock: Callable[..., Any], attention_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "out.json"

    def meanwhile(out: Any, number: int) -> Any:
        place.write_text("mine")
        return out

    monkeypatch.setitem(options.TARGETS, "gpu", lambda: clock(spoil=meanwhile))
    result = judge(attention_file, place)
    assert result.exit_code == 2
    assert "was not written by tilestep" in result.stderr
    assert place.read_text() == "mine"


def test_the_permissions_of_a_replaced_file_stay(tmp_path: Path) -> None:
    place = tmp_path / "out.json"
    destination.write(place, b"1")
    assert place.stat().st_mode & 0o777 == 0o644
    place.chmod(0o600)
    destination.write(place, b"2")
    assert (place.read_bytes(), place.stat().st_mode & 0o777) == (b"2", 0o600)


def test_a_name_that_a_terminal_takes_for_standard_input_may_be_a_file(
    on_gpu: None, attention_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert judge(attention_file, "./-").exit_code == 0
    assert is_bundle((tmp_path / "-").read_bytes())


@pytest.mark.parametrize("words", [("errors", "--png"), ("timeline", "--target", "gpu", "--trace")])
def test_what_show_writes_replaces_nothing_of_the_persons(
    attention_file: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Before anything is compiled or a GPU is asked for."""
    notes, pipe = tmp_path / "notes.txt", tmp_path / "pipe"
    notes.write_text("mine")
    os.mkfifo(pipe)
    command, *options = words
    for place, says in (
        (attention_file, "is the file that is judged"),
        (tmp_path / "new.py", "has the name of a source file"),
        (notes, "was not written by tilestep"),
        (pipe, "is not a regular file"),
        (tmp_path / "missing" / "out", "cannot be written: No such file or directory"),
    ):
        asked = ["show", command, str(attention_file), *options, str(place)]
        result = CliRunner().invoke(cli, asked, prog_name="tilestep")
        assert result.exit_code == 2
        assert result.stderr.startswith(f"tilestep show {command}: {place} {says}")
    assert notes.read_text() == "mine"
    assert attention_file.read_text().startswith("__global__")
    assert not (tmp_path / "new.py").exists()


def test_a_trace_and_a_picture_of_ours_are_replaced(tmp_path: Path) -> None:
    place = tmp_path / "out"
    for data, ours in (
        (b'{"traceEvents": []}', is_trace),
        (SIGNATURE + b"more", lambda data: data.startswith(SIGNATURE)),
    ):
        place.write_bytes(data)
        assert destination.check(place, "the file", ours) == place
    assert not is_trace(b"[]")
    assert not is_trace(b"no JSON")
