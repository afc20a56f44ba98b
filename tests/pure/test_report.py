"""What a person sees: 80 columns, no stray blanks, every part of the verdict, in plain text."""

from __future__ import annotations

import io
import math
from typing import Any

import pytest
from rich.console import Console

from tilestep import contract
from tilestep.judge import Progress
from tilestep.judge import verdict as v
from tilestep.program import Finding
from tilestep.report.case_table import ratio_text
from tilestep.report.console import THEME, say, stdout
from tilestep.report.markdown import inline, show_markdown
from tilestep.report.pages import nearest
from tilestep.report.progress import showing
from tilestep.report.terminal import bytes_text, show_verdict
from tilestep.subjects.attention.cases import FAMILIES

COMMON: dict[str, Any] = {
    "submission": v.Submission("kernels/attention.cu", "ab" * 32),
    "step": "online-attention",
    "seed": 3735928559,
    "target": v.TargetName("cpu", "emulator, g++ 12.2.0, 2 cores"),
    "evidence": ("seed: 3735928559", "checkers: 30 runs in 3 thread orders, 300 million accesses, 1 finding"),
}


def cases(wrong_from: int) -> tuple[v.CaseResult, ...]:
    def result(length: int, family: str) -> v.CaseResult:
        bad = length >= wrong_from and family == "spread"
        tensor = v.TensorResult(math.nan if bad else 1e-6, 1e-5, not bad)
        return v.CaseResult(length, family, {"attention_output": tensor})

    return tuple(result(n, family) for n in contract.LENGTHS for family in FAMILIES)


WRONG = v.Wrong(
    **COMMON,
    says="attention_output is wrong at T = 33 (spread), row 32, head 1, dim 5: the sum keeps its old weight.",
    cases=cases(33),
    first_wrong=v.FirstWrong("attention_output", 33, "spread", 32, 1, 5, 1.25, 0.75, 512, 16896),
    mistakes=(v.MistakeFound("some-mistake", "the denominator is not rescaled", "Long. " * 30, "A lesson."),),
    findings=tuple(
        Finding("race-shared", "thread 33 reads what 1 wrote", "attention.cu", n) for n in range(41, 50)
    ),
)


def shown(verdict: v.Verdict, width: int = 80, **options: Any) -> str:
    file = io.StringIO()
    show_verdict(verdict, Console(file=file, width=width, theme=THEME), **options)
    return file.getvalue()


def test_a_wrong_verdict_shows_all_that_matters_in_80_columns() -> None:
    text = shown(WRONG)
    for part in (
        "attention.cu   WRONG   online-attention",
        "emulator, g++ 12.2.0, 2 cores",
        "T = 33 (spread), row 32, head 1, dim 5",
        "yours 1.25   want 0.75",
        "512 of 16,896 values",
        "some-mistake",
        "race-shared   attention.cu:41",
        "and 4 more",
        "300 million accesses",
        "speed         not judged here, no GPU",
    ):
        assert part in text
    lines = text.splitlines()
    assert all(len(line) <= 80 for line in lines if not line.startswith("again"))
    assert all(line == line.rstrip() for line in lines)
    assert "\x1b" not in text


def test_a_heading_that_is_wrapped_and_a_long_path_stay_whole() -> None:
    target = v.TargetName("gpu", "NVIDIA H200, driver 580.159.04; emulator, g++ 12.2.0, 2 cores")
    path = "a_folder_with_a_long_name/" * 3 + "writes_its_input.cu"
    finding = Finding("race-shared", f"what {path} does", path, 41)
    text = shown(v.Unsafe(**{**COMMON, "target": target}, says=f"See {path}.", findings=(finding,)))
    assert all(line == line.rstrip() for line in text.splitlines())
    assert f"{path}:41" in text
    assert f"what\n{' ' * 14}{path}\n{' ' * 14}does" in text
    assert f"See\n{path}." in text


def test_a_sentence_is_wrapped_on_a_terminal_and_one_line_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence = "word " * 30 + "path/" * 30
    say(sentence)
    assert capsys.readouterr().err == f"{sentence}\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    say(sentence)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "path/" * 30
    assert max(map(len, lines[:-1])) <= 80


def test_the_table_marks_wrong_cases_without_colour() -> None:
    rows = {line.split()[0]: line for line in shown(WRONG).splitlines() if line[:5].strip().isdigit()}
    assert list(rows) == [str(n) for n in contract.LENGTHS]
    assert "nan" in rows["33"]
    assert "nan" not in rows["32"]
    assert rows["32"].count("0.100") == len(FAMILIES)


def test_the_command_that_shows_it_again_is_one_line_and_can_be_pasted() -> None:
    line = next(line for line in shown(WRONG, lengths=(1, 33)).splitlines() if line.startswith("again"))
    assert line.endswith(
        "tilestep judge kernels/attention.cu --step online-attention --seed 3735928559 --lengths 1,33"
    )
    spaced = v.Passed(**{**COMMON, "submission": v.Submission("my file.cu", "")}, says="Right.")
    assert "'my file.cu'" in shown(spaced)


@pytest.mark.parametrize("gate", [16.0, None])
def test_traffic_is_shown_against_the_baseline(gate: float | None) -> None:
    traffic = v.KvTraffic(2048, 136_445_952, 136_445_952, 8_594_128_896, gate)
    line = next(
        x for x in shown(v.Passed(**COMMON, says="Right.", traffic=traffic)).splitlines() if "K and V" in x
    )
    assert "273 MB" in line
    assert "8.59 GB" in line
    assert "31.5x" in line
    assert ("gate 16x" in line) is (gate is not None)


def test_numbers_are_short() -> None:
    assert [bytes_text(n) for n in (12, 1500, 2_500_000, 8_594_128_896)] == [
        "12 B",
        "1.5 kB",
        "2.5 MB",
        "8.59 GB",
    ]
    assert [ratio_text(r) for r in (1.5, 42.3, 3e5, math.nan, math.inf)] == [
        "1.50",
        "42",
        "3e+05",
        "nan",
        "inf",
    ]


def test_no_colour_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert stdout().no_color


def test_there_is_no_progress_display_without_a_terminal() -> None:
    file = io.StringIO()
    with showing(Console(file=file), "a.cu") as tell:
        assert tell is None
    assert file.getvalue() == ""


def test_progress_names_the_case_on_a_terminal() -> None:
    file = io.StringIO()
    with showing(Console(file=file, force_terminal=True, width=80, theme=THEME), "a.cu") as tell:
        assert tell is not None
        tell(Progress(3, 80, "T = 33, spread"))
    assert "3/80" in file.getvalue()
    assert "T = 33, spread" in file.getvalue()


def test_pages_keep_the_columns_of_code_and_lose_the_marks() -> None:
    file = io.StringIO()
    page = (
        "# Title\n\n**Why.** Use `exp2f`, not a * b * c, "
        + "word " * 30
        + "\n\n```cuda\nint x;"
        + " " * 80
        + "// far\n```\n- one\n- two"
    )
    show_markdown(page, Console(file=file, width=60, theme=THEME))
    text = file.getvalue()
    assert text.startswith("Title\n\nWhy. Use exp2f, not a * b * c, word")
    assert "int x;" + " " * 80 + "// far" in text
    assert "- one\n- two" in text
    assert inline("**a** `b_c` *d*").plain == "a b_c d"


def test_the_nearest_names_come_first() -> None:
    known = ("race-shared", "race-global", "scale-missing")
    assert nearest("race_shard", known)[0] == "race-shared"
    assert nearest("race", known) == ("race-shared", "race-global")
    assert nearest("xyzzy", known) == ()
