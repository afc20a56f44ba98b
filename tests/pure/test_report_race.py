"""A verdict with a speed, and a bundle judged again, as a person sees them: 80 columns, nothing lost."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from tilestep.judge import judge
from tilestep.judge import verdict as v
from tilestep.judge.bundle import Bundle, Recorded
from tilestep.judge.evidence import Asked
from tilestep.judge.replay import Replay, Row
from tilestep.report.console import THEME
from tilestep.report.replay import show_replay
from tilestep.report.terminal import show_verdict


def a_console() -> Console:
    return Console(file=io.StringIO(), width=80, theme=THEME)


def text_of(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def shown(file: Path, target: Any) -> str:
    console = a_console()
    verdict = judge(file, "online-attention", seed=3, lengths=(2, 33), target=target)
    show_verdict(verdict, console, None, "gpu")
    return text_of(console)


def test_a_speed_is_shown_with_its_interval_and_its_gate(clock: Any, attention_file: Path) -> None:
    text = shown(attention_file, clock())
    lines = text.splitlines()
    for line in (
        "speed         ATTN BASELINE MS: 4.0000",
        "checkers      not run on a GPU; --target both runs them first",
        "pairs         40 in random order, 0 throttled",
        "driver        580.1",
        "compiler      nvcc 13.0 -O3 -arch=sm_90",
        "others        no other process on the card",
    ):
        assert line in lines
    speedup = next(line for line in lines if "SPEEDUP: " in line)
    assert speedup.endswith("gate 1.8x)")
    assert next(line for line in lines if line.startswith("again")).endswith("--seed 3 --target gpu")
    assert all(len(line) <= 80 for line in lines if not line.startswith("again"))
    assert all(line == line.rstrip() for line in lines)
    assert "not judged here" not in text


def test_the_command_that_shows_it_again_has_the_pairs(clock: Any, attention_file: Path) -> None:
    verdict = judge(attention_file, "online-attention", seed=3, lengths=(2,), target=clock(), pairs=30)
    console = a_console()
    show_verdict(verdict, console, (2, 40), "gpu", 30)
    again = next(line for line in text_of(console).splitlines() if line.startswith("again"))
    assert again.endswith("--seed 3 --lengths 2,40 --target gpu --pairs 30")


def test_a_wrong_timed_call_is_named_and_makes_no_column(clock: Any, attention_file: Path) -> None:
    def spoil(out: np.ndarray, number: int) -> np.ndarray:
        out[3, 3] += np.float32(number == 17)
        return out

    text = shown(attention_file, clock(spoil_user=spoil))
    assert "where         T = 40 (timed pair 17), row 3, head 0, dim 3" in text
    heading = next(line for line in text.splitlines() if "normal" in line)
    assert heading.split() == ["T", "normal", "spread", "planted", "negative", "future-nan"]
    assert "SPEEDUP" not in text


def test_the_whole_block_has_a_column_of_its_own(clock: Any, attention_file: Path) -> None:
    verdict = judge(attention_file, "online-attention", seed=3, lengths=(2,), target=clock())
    block = v.CaseResult(2, "block", {"attention_output": v.TensorResult(1e-6, 4e-6, True)})
    console = a_console()
    show_verdict(dataclasses.replace(verdict, cases=(*verdict.cases, block)), console)
    heading, row = text_of(console).splitlines()[3:5]
    assert heading.split()[-1] == "block"
    assert row.split()[-1] == "0.250"
    assert len(heading) <= 80


def test_a_replay_marks_what_differs(clock: Any, attention_file: Path) -> None:
    verdict = judge(attention_file, "causal-attention", seed=3, lengths=(2,), profile=False, target=clock())
    asked = Asked("causal-attention", 3, (2,), False, "gpu", 40)
    bundle = Bundle("attention.cu", "", "", asked, Recorded("passed", None, (), None))
    rows = (
        Row("outcome", "passed", "passed", True),
        Row("findings", "none", "race-shared", False),
        Row("speedup", "2.50x (2.49x to 2.51x)", "none", None),
    )
    console = a_console()
    show_replay(bundle, Replay(verdict, "cpu", rows), console)
    lines = text_of(console).splitlines()
    assert lines[1].startswith("attention.cu   DIFFERS   causal-attention, seed 3")
    assert any(line.startswith(("x", "✗")) for line in lines)
    assert any(line.endswith("recorded none, now race-shared") for line in lines)
    assert any(line.endswith("now none, not compared") for line in lines)
    assert all(len(line) <= 80 for line in lines)
