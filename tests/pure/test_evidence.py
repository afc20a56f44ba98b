"""Evidence bundles: what is in them, what is refused, and what judging them again says."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tilestep import __version__
from tilestep.cli import cli, options
from tilestep.judge import bundle

Clock = Callable[..., Any]
WORDS = ("--step", "online-attention", "--lengths", "2,40", "--seed", "3", "--target", "gpu")


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], prog_name="tilestep")


@pytest.fixture
def on_gpu(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Says how the GPU of the command line behaves from here on."""

    def become(**how: Any) -> None:
        monkeypatch.setitem(options.TARGETS, "gpu", lambda: clock(**how))

    become()
    return become


@pytest.fixture
def made(on_gpu: Callable[..., None], attention_file: Path, tmp_path: Path) -> Path:
    """The bundle of a passed verdict."""
    out = tmp_path / "out.json"
    assert run("judge", attention_file, *WORDS, "--evidence", out).exit_code == 0
    return out


def change(path: Path, edit: Callable[[dict[str, Any]], Any]) -> Path:
    document = json.loads(path.read_text(encoding="utf-8"))
    edit(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_bundle_holds_all_that_the_verdict_rests_on(made: Path, attention_file: Path) -> None:
    document = json.loads(made.read_text(encoding="utf-8"))
    data = attention_file.read_bytes()
    assert (document["schema"], document["tilestep"]) == (1, __version__)
    assert document["submission"]["text"].encode() == data
    assert document["submission"]["sha256"] == hashlib.sha256(data).hexdigest()
    assert document["asked"] == {
        "step": "online-attention",
        "seed": 3,
        "lengths": [2, 40],
        "profile": True,
        "target": "gpu",
        "pairs": 40,
        "fail_fast": False,
    }
    assert (document["card"]["name"], document["card"]["capability"]) == ("a card", [9, 0])
    assert document["baseline"]["name"] == "attention/02_cooperative.cu"
    assert len(document["baseline"]["sha256"]) == 64
    assert len(document["race"]["pairs"]) == 40
    assert re.fullmatch("[0-9a-f]{32}", document["race"]["entropy"])
    pair = document["race"]["pairs"][7]
    assert set(pair) == {
        "number", "user_first", "strict", "user_ms", "baseline_ms", "user_wall_ms", "baseline_wall_ms",
        "clock", "throttled", "late", "kept",
    }  # fmt: skip
    assert pair["baseline_ms"] / pair["user_ms"] == pytest.approx(2.5)
    assert document["verdict"]["outcome"] == "passed"
    assert document["verdict"]["speed"]["pairs"] == 40


def test_times_that_cannot_be_read_are_null(
    on_gpu: Callable[..., None], attention_file: Path, tmp_path: Path
) -> None:
    on_gpu(hides_ms=math.nan)
    out = tmp_path / "out.json"
    assert run("judge", attention_file, *WORDS, "--evidence", out).exit_code == 0
    assert json.loads(out.read_text())["race"]["pairs"][0]["user_wall_ms"] is None


def test_a_bundle_is_written_for_what_is_not_passed_too(
    on_gpu: Callable[..., None], attention_file: Path, tmp_path: Path
) -> None:
    on_gpu(spoil=lambda out, n: out + np.float32(1))
    out = tmp_path / "out.json"
    assert run("judge", attention_file, *WORDS, "--evidence", out).exit_code == 1
    document = json.loads(out.read_text())
    assert (document["verdict"]["outcome"], document["race"]) == ("wrong", None)
    again = run("replay", out)
    assert again.exit_code == 0
    assert "THE SAME" in again.stdout


def test_a_timed_pair_that_was_wrong_can_be_replayed(
    on_gpu: Callable[..., None], attention_file: Path, tmp_path: Path
) -> None:
    on_gpu(spoil_user=lambda out, n: out + np.float32(1))
    out = tmp_path / "out.json"
    assert run("judge", attention_file, *WORDS, "--evidence", out).exit_code == 1
    assert json.loads(out.read_text())["verdict"]["first_wrong"]["family"].startswith("timed pair ")
    assert bundle.read(out).verdict.outcome == "wrong"
    again = run("replay", out, "--json")
    assert again.exit_code in (0, 1)  # a random pair is the first to be wrong
    assert json.loads(again.stdout)["verdict"]["outcome"] == "wrong"


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_judged(
    on_gpu: Callable[..., None], attention_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never() -> Any:
        raise AssertionError("nothing may be judged")

    monkeypatch.setitem(options.TARGETS, "gpu", never)
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for place in (
        tmp_path / "missing" / "out.json",
        tmp_path,
        attention_file / "out.json",
        tmp_path / "circle",
    ):
        result = run("judge", attention_file, *WORDS, "--evidence", place)
        assert result.exit_code == 2
        assert str(place) in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1


def test_an_old_bundle_stays_whole_when_the_new_one_cannot_be_made(
    made: Path, attention_file: Path, on_gpu: Callable[..., None]
) -> None:
    before = made.read_bytes()

    def change_file(out: np.ndarray, n: int) -> np.ndarray:
        attention_file.write_text(attention_file.read_text() + "// more\n")
        return out

    on_gpu(spoil=change_file)
    result = run("judge", attention_file, *WORDS, "--evidence", made)
    assert result.exit_code == 2
    assert "has changed since it was judged" in result.stderr
    assert made.read_bytes() == before
    assert not list(made.parent.glob(".tilestep-*"))


def test_a_file_that_cannot_be_read_leaves_no_evidence(on_gpu: Callable[..., None], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = run("judge", tmp_path / "nothing.cu", *WORDS, "--evidence", out)
    assert result.exit_code == 2
    assert "there is no evidence of a file that cannot be read" in result.stderr
    assert not out.exists()


def test_line_ends_come_back_as_they_were(
    on_gpu: Callable[..., None], attention_file: Path, tmp_path: Path
) -> None:
    data = b"\xef\xbb\xbf" + attention_file.read_bytes().replace(b"\n", b"\r\n")
    attention_file.write_bytes(data)
    out = tmp_path / "out.json"
    assert run("judge", attention_file, *WORDS, "--evidence", out).exit_code == 0
    assert bundle.read(out).text.encode() == data
    assert run("replay", out).exit_code == 0


# --- judging again ------------------------------------------------------------------------------------------


def test_the_same_again(made: Path) -> None:
    result = run("replay", made)
    assert result.exit_code == 0
    assert "THE SAME" in result.stdout
    assert "speedup" in result.stdout
    answer = json.loads(run("replay", made, "--json").stdout)
    assert answer["same"] is True
    assert [row["what"] for row in answer["compared"]] == ["outcome", "first wrong", "findings", "speedup"]


def test_the_text_is_judged_and_not_the_file(made: Path, attention_file: Path) -> None:
    attention_file.unlink()
    answer = json.loads(run("replay", made, "--json").stdout)
    assert Path(answer["verdict"]["submission"]["file"]).name == "attention.cu"
    assert answer["verdict"]["seed"] == 3
    assert {case["length"] for case in answer["verdict"]["cases"]} == {2, 40}


def test_a_speedup_within_five_percent_is_the_same(made: Path, on_gpu: Callable[..., None]) -> None:
    on_gpu(ratio=lambda n: 2.6 + 0.001 * (n % 3))
    assert run("replay", made).exit_code == 0
    on_gpu(ratio=lambda n: 2.8 + 0.001 * (n % 3))
    result = run("replay", made)
    assert result.exit_code == 1
    assert "DIFFERS" in result.stdout
    assert "now 2.80x" in result.stdout


def test_another_outcome_differs(made: Path, on_gpu: Callable[..., None]) -> None:
    on_gpu(spoil=lambda out, n: out * np.float32(3))
    result = run("replay", made, "--json")
    assert result.exit_code == 1
    compared = {row["what"]: row for row in json.loads(result.stdout)["compared"]}
    assert (compared["outcome"]["recorded"], compared["outcome"]["now"]) == ("passed", "wrong")
    assert compared["first wrong"]["same"] is False
    assert compared["findings"]["same"] is True


def test_no_gpu_is_exit_code_4(made: Path, on_gpu: Callable[..., None], attention_file: Path) -> None:
    on_gpu(ready="there is no NVIDIA driver here")
    result = run("replay", made)
    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr.strip() == "tilestep replay: there is no NVIDIA driver here"
    for target in ("gpu", "both"):
        judged = run("judge", attention_file, "--lengths", "2", "--target", target)
        assert judged.exit_code == 4
        assert judged.stderr.strip() == "tilestep judge: there is no NVIDIA driver here"


# --- where it is judged -------------------------------------------------------------------------------------


def test_both_judges_on_the_cpu_first_and_joins_what_it_saw(
    clock: Clock, attention_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    cpu = clock(name="an emulator", spoil=lambda out, n: order.append("cpu") or out)
    cpu.kind = "cpu"
    gpu = clock(spoil=lambda out, n: order.append("gpu") or out)
    monkeypatch.setattr(cpu, "race", None)
    monkeypatch.setitem(options.TARGETS, "cpu", lambda: cpu)
    monkeypatch.setitem(options.TARGETS, "gpu", lambda: gpu)
    words = ("judge", attention_file, "--lengths", "2", "--seed", "3", "--json", "--target", "both")
    verdict = json.loads(run(*words).stdout)
    assert (verdict["outcome"], verdict["target"]["kind"]) == ("passed", "gpu")
    assert verdict["target"]["name"] == "a card, driver 580.1; an emulator"
    assert verdict["says"].endswith("On the CPU the checkers find nothing.")
    assert verdict["evidence"].count("seed: 3") == 1
    assert order == sorted(order)
    cpu.spoil = lambda out, n: out + np.float32(1)
    order.clear()
    wrong = json.loads(run(*words).stdout)
    assert (wrong["outcome"], wrong["target"]["kind"]) == ("wrong", "cpu")
    assert order == []


def test_the_gpu_is_taken_where_there_is_one(
    on_gpu: Callable[..., None], attention_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = tmp_path / "device"
    monkeypatch.setattr(options, "_DEVICES", (device,))
    said: list[str] = []
    assert options.chosen("auto", said.append) == "cpu"
    device.touch()
    assert options.chosen("auto", said.append) == "gpu"
    assert options.chosen("both", said.append) == "both"
    assert said == []
    on_gpu(ready="cuda-core is not installed")
    assert options.chosen("auto", said.append) == "cpu"
    assert said == ["the GPU is not used: cuda-core is not installed"]
    on_gpu()
    monkeypatch.delenv("TILESTEP_TARGET")
    verdict = json.loads(run("judge", attention_file, "--lengths", "2", "--json").stdout)
    assert verdict["target"]["kind"] == "gpu"


def test_options_that_do_not_go_together(attention_file: Path, tmp_path: Path) -> None:
    for words in (
        ("--pairs", "40"),
        ("--target", "gpu", "--pairs", "20"),
        ("--block", "--evidence", str(tmp_path / "out.json")),
        ("--block", "--target", "gpu", "--pairs", "40"),
    ):
        result = run("judge", attention_file, *words)
        assert result.exit_code == 2, words
        assert len(result.stderr.strip().splitlines()) == 1
