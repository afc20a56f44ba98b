"""The times of launches as they are drawn, and as a Chrome trace."""

from __future__ import annotations

import io
import json

import pytest
from click.testing import CliRunner
from rich.console import Console

from tilestep.cli import cli
from tilestep.inspect.times import TimedBar, TimedLane, Times
from tilestep.report.console import THEME
from tilestep.report.times import show_times, time_text
from tilestep.report.trace import trace_events


def bar(kernel: str, ms: float, step: str = "causal-attention") -> TimedBar:
    return TimedBar(step, kernel, 7, ms, ms * 0.9, ms * 1.5)


NORM = bar("normalise", 0.004, "rmsnorm")
TIMES = Times(
    "T",
    2048,
    "NVIDIA H200, driver 580.1",
    20,
    (
        TimedLane("block with serial.cu", (NORM, bar("attendSerial", 33.14))),
        TimedLane("block with cooperative.cu", (NORM, bar("attendCooperativelyWithAVeryLongName", 4.696))),
    ),
)


def drawn(times: Times, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding)
    show_times(times, Console(file=file, width=80, theme=THEME, highlight=False, emoji=False, markup=False))
    file.flush()
    text = raw.getvalue().decode(encoding)
    assert all(len(line) <= 80 for line in text.splitlines())
    return text


def test_times_are_drawn_to_one_scale() -> None:
    text = drawn(TIMES)
    bars = [line for line in text.splitlines() if "█" in line]
    assert [line.count("█") for line in bars] == [1, 48, 1, 7]
    assert bars[1].endswith(" 33.1 ms")
    assert bars[0].endswith(" 4.00 us")
    assert "block with cooperative.cu\n4.70 ms, 7.05 times as fast as the first\n" in text
    assert "T = 2048: time of each launch   NVIDIA H200, driver 580.1" in text
    assert "the median of 20 calls" in text
    assert "#" * 48 in drawn(TIMES, "ascii")


def test_a_lane_beside_the_first() -> None:
    def lanes(ms: float) -> str:
        return drawn(
            Times("T", 1, "card", 20, (TimedLane("a", (bar("k", 1.0),)), TimedLane("b", (bar("k", ms),))))
        )

    assert "1.00 ms, as fast as the first" in lanes(1.001)
    assert "2.50 ms, 2.5 times as slow as the first" in lanes(2.5)


def test_a_lane_that_took_no_time_is_not_compared() -> None:
    nothing = Times("T", 1, "card", 20, (TimedLane("a", ()), TimedLane("b", (bar("k", 1.0),))))
    assert "no time was measured" in drawn(nothing)


def test_the_trace_has_a_row_for_each_lane_in_microseconds() -> None:
    document = json.loads(json.dumps(trace_events(TIMES), allow_nan=False))
    complete = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert [event["tid"] for event in complete] == [1, 1, 2, 2]
    assert [event["ts"] for event in complete] == pytest.approx([0.0, 4.0, 0.0, 4.0])
    assert [event["dur"] for event in complete] == pytest.approx([4.0, 33140.0, 4.0, 4696.0])
    assert complete[1]["name"] == "attendSerial"
    assert complete[1]["args"]["fastest_us"] == pytest.approx(33140 * 0.9)
    rows = {event["tid"]: event["args"]["name"] for event in document["traceEvents"] if event["ph"] == "M"}
    assert rows == {0: TIMES.card, 1: "block with serial.cu", 2: "block with cooperative.cu"}
    assert all(event["pid"] == 1 for event in document["traceEvents"])
    assert document["otherData"]["T"] == 2048


def test_the_document_for_programs() -> None:
    document = json.loads(json.dumps(TIMES.to_json(), allow_nan=False))
    assert (document["unit"], document["length"], document["repeats"]) == ("ms", 2048, 20)
    first = document["lanes"][0]
    assert first["ms"] == pytest.approx(33.144)
    assert first["launches"][0]["kernel"] == "normalise"


@pytest.mark.parametrize(
    ("ms", "text"),
    [(33.14, "33.1 ms"), (4.696, "4.70 ms"), (0.3125, "312 us"), (0.00521, "5.21 us"), (120.0, "120 ms")],
)
def test_a_time_has_three_digits(ms: float, text: str) -> None:
    assert time_text(ms) == text


def test_a_cpu_has_no_times_to_write() -> None:
    result = CliRunner().invoke(cli, ["show", "timeline", "--trace", "trace.json"])
    assert result.exit_code == 2
    assert "a CPU has none to show: add --target gpu" in result.stderr
