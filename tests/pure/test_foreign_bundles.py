"""Bundles from anywhere: whatever is in one, it is read, or refused in one sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilestep.cli import cli, options
from tilestep.judge import bundle
from tilestep.judge.verdict import Submission, TargetName, Unsafe

WORDS = ("--step", "online-attention", "--lengths", "2,40", "--seed", "3", "--target", "gpu")


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], prog_name="tilestep")


@pytest.fixture
def made(
    clock: Callable[[], Any], attention_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The bundle of a passed verdict on a GPU."""
    monkeypatch.setitem(options.TARGETS, "gpu", clock)
    out = tmp_path / "out.json"
    assert run("judge", attention_file, *WORDS, "--evidence", out).exit_code == 0
    return out


def change(path: Path, edit: Callable[[dict[str, Any]], Any]) -> Path:
    document = json.loads(path.read_text(encoding="utf-8"))
    edit(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


BAD: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "schema": (lambda d: d.update(schema=2), "has schema 2, and this tilestep reads schema 1"),
    "no schema": (lambda d: d.pop("schema"), "has schema None"),
    "text": (lambda d: d["submission"].update(text="int x;"), "does not have the hash that is recorded"),
    "verdict's submission": (lambda d: d["verdict"].update(submission="x"), "its 'submission' is missing or"),
    "outcome": (
        lambda d: d["verdict"].update(outcome="\x1b[31mpassed"),
        "no outcome is called '\\x1b[31mpas",
    ),
    "finding": (lambda d: d["verdict"].update(findings=["x"]), "'x' is not an object"),
    "code": (lambda d: d["verdict"].update(findings=[{"code": "\ud800"}]), "its 'code' is missing or wrong"),
    "first wrong": (lambda d: d["verdict"].update(first_wrong={"tensor": "y"}), "its 'length' is missing or"),
    "speedup": (lambda d: d["verdict"]["speed"].update(speedup=10**400), "its 'speedup' is missing or wrong"),
    "low": (lambda d: d["verdict"]["speed"].update(low=math.nan), "its 'low' is missing or wrong"),
    "high": (lambda d: d["verdict"]["speed"].update(high=True), "its 'high' is missing or wrong"),
    "no lengths": (lambda d: d["asked"].update(lengths=[]), "no list of whole numbers"),
    "huge seed": (lambda d: d["asked"].update(seed=10**4000), "... is no seed"),
    "hash": (lambda d: d["submission"].update(sha256="0" * 64), "does not have the hash that is recorded"),
    "verdict of another": (lambda d: d["verdict"]["submission"].update(sha256="0"), "is not about the text"),
    "no outcome": (lambda d: d["verdict"].update(outcome=3), "its 'outcome' is missing or wrong"),
    "submission kind": (
        lambda d: d["verdict"].update(submission=[1]),
        "its 'submission' is missing or wrong",
    ),
    "no submission": (lambda d: d["verdict"].update(submission=None), "its 'submission' is missing or wrong"),
    "another step": (lambda d: d["verdict"].update(step="rmsnorm"), "on another step or seed"),
    "another seed": (lambda d: d["verdict"].update(seed=4), "on another step or seed"),
    "no verdict": (lambda d: d.pop("verdict"), "its 'verdict' is missing or wrong"),
    "no text": (lambda d: d["submission"].update(text=None), "its 'text' is missing or wrong"),
    "step": (lambda d: d["asked"].update(step="sorting"), "no step is called 'sorting'"),
    "target": (lambda d: d["asked"].update(target="tpu"), "no target is called 'tpu'"),
    "seed": (lambda d: d["asked"].update(seed=-1), "-1 is no seed"),
    "seed kind": (lambda d: d["asked"].update(seed="3"), "its 'seed' is missing or wrong"),
    "lengths": (lambda d: d["asked"].update(lengths=[True]), "no list of whole numbers"),
    "length": (lambda d: d["asked"].update(lengths=[0]), "a length is a whole number from 1"),
    "pairs": (lambda d: d["asked"].update(pairs=7), "the number of pairs is from 30 to 200"),
}


@pytest.mark.parametrize("speedup", [10**400, "9", True, None, -1.0, math.inf])
def test_a_speed_that_is_none_is_refused(made: Path, speedup: Any) -> None:
    result = run("replay", change(made, lambda d: d["verdict"]["speed"].update(speedup=speedup)))
    assert result.exit_code == 2
    assert "its 'speedup' is missing or wrong" in result.stderr


@pytest.mark.parametrize("name", BAD)
def test_a_bundle_that_was_tampered_with_is_refused_in_one_sentence(made: Path, name: str) -> None:
    edit, says = BAD[name]
    result = run("replay", change(made, edit))
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.strip().splitlines()) == 1
    assert says in result.stderr


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**400), 2**63])
    | st.floats()
    | st.text()
    | st.sampled_from(["\ud800", "\x1b[31m", "wrong", "cpu", "rmsnorm", "1e999"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every field of a document; of a list that repeats, to its first."""
    yield at
    parts = (
        value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    )
    for key, part in parts:
        yield from places(part, (*at, key))


@given(data=st.data())
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_in_a_field_there_is_no_traceback(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    document = json.loads(made.read_text(encoding="utf-8"))
    document["verdict"]["first_wrong"] = {
        "tensor": "y",
        "length": 2,
        "family": "f",
        "row": 0,
        "head": 1,
        "dim": 2,
    }
    document["verdict"]["findings"] = [{"code": "race-shared"}]
    *way, last = data.draw(st.sampled_from([place for place in places(document) if place]))
    holder = document
    for key in way:
        holder = holder[key]
    if data.draw(st.booleans()) and isinstance(holder, dict):
        del holder[last]
    else:
        holder[last] = data.draw(ANYTHING)
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(document), encoding="utf-8")
    about = Submission("attention.cu", "0" * 64)
    again = Unsafe(
        submission=about, step="rmsnorm", seed=3, target=TargetName("gpu", "a card"), says="It is."
    )
    monkeypatch.setattr("tilestep.cli.replay.judge_asked", lambda path, asked, **_: again)
    result = run("replay", changed)
    assert result.exit_code in (1, 2), result.output
    assert "our fault" not in result.output
    if result.exit_code == 2:
        assert len(result.stderr.strip().splitlines()) == 1
        assert result.stderr.isprintable() or result.stderr.strip().isprintable()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "is not JSON"),
        (b"[1]", "is not an evidence bundle"),
        (b"\xff\xfe", "is not JSON"),
        (b"", "is not JSON"),
    ],
)
def test_what_is_no_bundle(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(content)
    result = run("replay", path)
    assert result.exit_code == 2
    assert says in result.stderr


def test_no_such_bundle(tmp_path: Path) -> None:
    assert "no such file" in run("replay", tmp_path / "nothing.json").stderr
    assert "is not a file" in run("replay", tmp_path).stderr


@pytest.mark.parametrize("file", ["/etc/passwd", "../../x.cu", "..", "", "a\nb.cu", "x" * 300, "C:\\x\\k.cu"])
def test_a_recorded_name_leads_nowhere(made: Path, file: str) -> None:
    read = bundle.read(change(made, lambda d: d["submission"].update(file=file)))
    assert read.name in ("passwd", "x.cu", "submission.cu", "k.cu")
