"""The command line: arguments, exit codes, and what goes to which stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tilestep import contract, kernels
from tilestep.cli import cli, doctor
from tilestep.cli import judge as judge_command
from tilestep.judge import verdict as v
from tilestep.report.pages import codes
from tilestep.subjects import registered

COMMON: dict[str, Any] = {
    "submission": v.Submission("attention.cu", "ab" * 32),
    "step": "online-attention",
    "seed": 7,
    "target": v.TargetName("cpu", "emulator"),
}


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words), prog_name="tilestep")


def one_line(text: str) -> str:
    """The only line of a text that must be one sentence."""
    lines = text.strip().splitlines()
    assert len(lines) == 1, text
    return lines[0]


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Replaces the judge: notes how it was called, and answers with the last verdict of `answers`."""
    calls: list[dict[str, Any]] = []

    def fake(file: str, step: str, **options: Any) -> v.Verdict:
        calls.append({"file": file, "step": step, **options})
        answer = answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    answers: list[Any] = [v.Passed(says="Right.", cases=(v.CaseResult(1, "normal", {}),), **COMMON)]
    monkeypatch.setattr(judge_command, "judge", fake)
    fake.answers = answers  # type: ignore[attr-defined]
    return calls


def answer_with(answer: Any) -> None:
    judge_command.judge.answers[0] = answer  # type: ignore[attr-defined]


def test_no_argument_prints_help() -> None:
    result = run()
    assert result.exit_code == 0
    for name in ("judge", "explain", "doctor", "list"):
        assert name in result.stdout


def test_version() -> None:
    assert run("--version").stdout.startswith("tilestep, version ")


def test_judge_passes_its_arguments_on(judged: list[dict[str, Any]]) -> None:
    assert run("judge", "a.cu", "--seed", "9", "--lengths", "1,33").exit_code == 0
    call = judged[0]
    assert (call["file"], call["step"], call["seed"]) == ("a.cu", "online-attention", 9)
    assert (call["lengths"], call["profile"]) == ((1, 33), False)
    run("judge", "a.cu", "--step", "causal-attention")
    assert (judged[1]["step"], judged[1]["lengths"], judged[1]["profile"]) == ("causal-attention", None, True)
    run("judge", "a.cu", "--lengths", "33,2048")
    assert judged[2]["profile"] is True


@pytest.mark.parametrize(
    ("kind", "code"),
    [(v.Passed, 0), (v.Slow, 1), (v.Unsafe, 1), (v.Refused, 2), (v.Broken, 2), (v.Unavailable, 4)],
)
def test_exit_codes_and_json_only_on_stdout(judged: list[dict[str, Any]], kind: Any, code: int) -> None:
    answer_with(kind(says="A sentence.", **COMMON))
    result = run("judge", "a.cu", "--json")
    assert result.exit_code == code
    assert json.loads(result.stdout)["outcome"] == kind.outcome
    assert result.stderr == ""


def test_what_never_ran_is_one_sentence_on_stderr(judged: list[dict[str, Any]]) -> None:
    answer_with(v.Refused(says="a.cu:3: inline assembly cannot be judged", **COMMON))
    result = run("judge", "a.cu")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert one_line(result.stderr) == "a.cu:3: inline assembly cannot be judged"


def test_a_fault_of_ours_is_one_sentence_and_a_traceback_in_a_file(judged: list[dict[str, Any]]) -> None:
    answer_with(RuntimeError("the abacus broke"))
    result = run("judge", "a.cu")
    assert result.exit_code == 3
    sentence = one_line(result.stderr)
    assert "our fault" in sentence
    assert "the abacus broke" in sentence
    saved = Path(sentence.rpartition(" ")[2])
    assert "Traceback" in saved.read_text(encoding="utf-8")
    saved.unlink()


def test_an_interrupt_ends_with_130(judged: list[dict[str, Any]]) -> None:
    answer_with(KeyboardInterrupt())
    assert run("judge", "a.cu").exit_code == 130


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["judge"], "Missing argument"),
        (["judge", "a.cu", "--step", "online-atention"], "the steps are online-attention"),
        (["judge", "a.cu", "b.cu"], "one file is judged for a step, not 2"),
        (["judge", "a.cu", "--block", "--step", "rope"], "--block takes no --step"),
        (["judge", "a.cu", "--step", "stable-softmax", "--lengths", "9999"], "of stable-softmax, from 1"),
        (["judge", "a.cu", "--lengths", "one"], "not a list of whole numbers"),
        (["judge", "a.cu", "--lengths", "0"], "from 1 to 2048"),
        (["judge", "a.cu", "--lengths", "4096"], "from 1 to 2048"),
        (["judge", "a.cu", "--seed", "-1"], "'-1' is not a whole number from 0 to 4294967295"),
        (["judge", "a.cu", "--pairs", "x"], "'x' is not a whole number from 30 to 200"),
        (["judge", "a.cu", "--pairs", "201"], "'201' is not a whole number from 30 to 200"),
        (["show", "scores", "a.cu", "--row", "1.5"], "'1.5' is not a whole number from 0 on"),
        (["judge", "a.cu", "--target", "abacus"], "abacus"),
        (["judge", "a.cu", "--jsn"], "--jsn"),
        (["jugde", "a.cu"], "jugde"),
        (["explain", "no-such-code-at-all"], "no page explains"),
    ],
)
def test_usage_errors_exit_with_2(words: list[str], says: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.split())
    assert result.stdout == ""


def test_list_names_every_step_and_kernel() -> None:
    text = run("list").stdout
    for step in contract.STEPS:
        assert step.name in text
    for name in kernels.names():
        assert name in text
    document = json.loads(run("list", "--json").stdout)
    assert [step["name"] for step in document["steps"]] == list(contract.STEP)
    assert tuple(step["name"] for step in document["steps"] if step["judged"]) == registered()
    assert [step["number"] for step in document["steps"]] == list(range(1, 13))
    assert all(Path(kernel["file"]).is_file() for kernel in document["kernels"])
    assert all(kernel["idea"] for kernel in document["kernels"])


def test_explain_lists_and_prints_every_page() -> None:
    assert codes(), "no page at all"
    listed = json.loads(run("explain", "--json").stdout)["codes"]
    assert [entry["code"] for entry in listed] == list(codes())
    assert run("explain").exit_code == 0
    for code in codes():
        assert run("explain", code).exit_code == 0
        page = json.loads(run("explain", code, "--json").stdout)
        assert page["title"]
        assert page["text"]


def test_explain_offers_the_nearest_codes() -> None:
    code = codes()[0]
    result = run("explain", code[:-1])
    assert result.exit_code == 2
    assert code in result.stderr


def test_doctor_says_what_mends_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    check = doctor.machine.Check("compiler", False, "no C++ compiler", "pip install 'tilestep[cc]'")
    monkeypatch.setattr(doctor.machine, "examine", lambda: [check])
    assert "pip install 'tilestep[cc]'" in run("doctor").stdout
    document = json.loads(run("doctor", "--json").stdout)
    assert document["checks"] == [
        {"name": "compiler", "ok": False, "says": "no C++ compiler", "mend": "pip install 'tilestep[cc]'"}
    ]
