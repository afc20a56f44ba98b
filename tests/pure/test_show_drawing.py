"""What `tilestep show` draws: 80 columns, differences marked, nothing said that was not counted."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tilestep.inspect.errors import ErrorMap, Errors
from tilestep.inspect.plan import Plan, PlannedLaunch
from tilestep.inspect.scores import Key, ScoreRow, Seen
from tilestep.inspect.timeline import Bar, Lane, Timeline
from tilestep.judge.verdict import FirstWrong
from tilestep.program import Launch, SharedArray
from tilestep.report.console import THEME
from tilestep.report.error_map import draw, pixels, show_errors
from tilestep.report.launches import count_text, show_plan, show_timeline
from tilestep.report.score_row import number, show_scores


def drawn(show: Any, what: Any, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding)
    show(what, Console(file=file, width=80, theme=THEME, highlight=False, emoji=False, markup=False))
    file.flush()
    text = raw.getvalue().decode(encoding)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert all(line == line.rstrip() for line in text.splitlines())
    return text


def words(text: str) -> str:
    return " ".join(text.split())


# --- scores -------------------------------------------------------------------------------------------------


def key(number_: int, yours: float | None, want: float, *, masked: bool = False, leaks: bool = False) -> Key:
    ok = yours is None or yours == want if masked else yours == want
    return Key(number_, masked, yours, want, ok, leaks, number_, None if yours is None else 0)


def row(keys: list[Key], **changes: Any) -> ScoreRow:
    facts: dict[str, Any] = {
        "file": "a.cu",
        "length": len(keys),
        "family": "normal",
        "seed": 1,
        "row": sum(not k.masked for k in keys) - 1,
        "head": 3,
        "kernel": "attend",
        "line": 12,
        "block": (4, 5, 0),
        "array": "score_smem",
        "form": "score",
        "matched": True,
        "foreign": False,
        "moments": ("at the barrier in line 7",),
        "keys": tuple(keys),
        "arrays": (SharedArray("score_smem", 0, 400), SharedArray("tree", 400, 800)),
        "seen": (Seen("score_smem", "score", 3, "x"), Seen("tree", "probability", 9, "when the block ended")),
        "cut": False,
    }
    return ScoreRow(**{**facts, **changes})


def masked(first: int, last: int, yours: float | None = -math.inf) -> list[Key]:
    return [key(n, yours, -math.inf, masked=True) for n in range(first, last)]


def test_a_right_row() -> None:
    text = drawn(show_scores, row([key(n, n / 8, n / 8) for n in range(5)] + masked(5, 20)))
    assert "row 4, head 3   T = 20 (normal, seed 1)   attend, block (4, 5, 0)" in text
    assert "yours            0    0.125     0.25    0.375      0.5     -inf     -inf" in text
    assert "float64          0    0.125     0.25    0.375      0.5   masked   masked" in text
    assert "keys 7 to 19: masked, all -inf" in text
    assert "also     tree: probability, 9 keys, when the block ended" in text
    assert "All 5 visible keys are the float64 ones, to fp32's rounding." in text
    assert "^" not in text


def test_differences_are_marked_where_they_are() -> None:
    keys = [key(0, 1.0, 1.0), key(1, 2.5, 2.0), key(2, None, 3.0), *masked(3, 5)]
    lines = drawn(show_scores, row(keys)).splitlines()
    yours = next(line for line in lines if line.startswith("yours"))
    marks = lines[lines.index(yours) + 1]
    assert yours.split() == ["yours", "1", "2.5", "-", "-inf", "-inf"]
    assert [at for at, sign in enumerate(marks) if sign == "^"] == [24, 25, 26, 35]
    assert yours[24:27] == "2.5"
    assert yours[35] == "-"
    assert "2 of 3 visible keys differ from float64. A - stands where" in words("\n".join(lines))


def test_a_mask_that_leaks_and_one_that_holds_something_else() -> None:
    leak = key(2, 0.5, -math.inf, masked=True, leaks=True)
    assert "Masked key 2 holds what an unmasked one would: the mask lets it through." in words(
        drawn(show_scores, row([key(0, 1.0, 1.0), key(1, 1.0, 1.0), leak]))
    )
    zero = key(1, 0.0, -math.inf, masked=True)
    assert "1 masked key holds a number that no masked key should have" in words(
        drawn(show_scores, row([key(0, 1.0, 1.0), zero]))
    )


def test_a_long_row_shows_what_matters() -> None:
    keys = [key(n, 1.0, 2.0 if n == 700 else 1.0) for n in range(1500)] + masked(1500, 2048, None)
    text = drawn(show_scores, row(keys))
    assert len(text.splitlines()) < 40
    assert "keys 0 to 699: as float64" in text
    assert "keys 1505 to 2047: masked, never written" in text
    assert "1 of 1500 visible keys differ" in text


def test_what_was_not_found_is_not_claimed() -> None:
    text = words(drawn(show_scores, row([key(0, 1.0, 2.0)], matched=False)))
    assert "No value of score_smem is one that this row's scores have in any known form" in text
    foreign = row([key(0, 1.0, 2.0)], foreign=True, form="score of query head 0")
    assert "What the array holds is the score of query head 0." in words(drawn(show_scores, foreign))


def test_what_has_no_place_in_the_array_is_not_called_wrong() -> None:
    lost = Key(1, False, None, 2.0, False, False, None, None)
    text = words(drawn(show_scores, row([key(0, 1.0, 1.0), lost])))
    assert "0 of 2 visible keys differ from float64. 1 were not found in it" in text
    assert "A - stands" not in text


def test_a_row_of_a_softmax_has_no_head() -> None:
    text = drawn(show_scores, row([key(n, 1.0, 1.0) for n in range(9)], head=None, form="value"))
    assert "row 8   columns = 9 (normal, seed 1)" in text
    assert "All 9 values are the float64 ones" in text


def test_scores_as_json() -> None:
    document = row([key(0, math.nan, 2.0), key(1, None, 1.0), *masked(2, 3)]).to_json()
    assert [k["yours"] for k in json.loads(json.dumps(document, allow_nan=False))["keys"]] == [
        "nan",
        None,
        "-inf",
    ]


@given(st.floats(allow_nan=True, width=32))
def test_every_value_fits_its_column(value: float) -> None:
    text = number(value)
    assert len(text) <= 8
    if math.isfinite(value) and value:
        assert abs(float(text) / value - 1) < 0.06


# --- errors -------------------------------------------------------------------------------------------------


def error_map(ratio: np.ndarray[Any, Any], group: int = 1, judged: int | None = None) -> ErrorMap:
    rows = np.arange(len(ratio)) < (len(ratio) if judged is None else judged)
    wrong = ~(ratio <= 1.0) & rows[:, None]
    at = np.argwhere(wrong)
    first = (int(at[0][0]), int(at[0][1])) if len(at) else None
    return ErrorMap("attention_output", "attention", ratio, wrong, rows, group, first)


def test_a_map_of_heads() -> None:
    ratio = np.zeros((4, 512))
    ratio[1, 64:128] = 5.0
    ratio[2, 72] = 500.0
    ratio[2, 500] = 1e9
    ratio[3] = np.nan
    lines = [line.plain for line in draw(error_map(ratio, group=64, judged=3), "·░▒▓█")]
    assert lines[0].split() == [word for head in range(8) for word in ("head", str(head))]
    assert lines[1] == "      0 " + " ".join(["········"] * 8)
    assert lines[2] == "      1 ········ X░░░░░░░ " + " ".join(["········"] * 6)
    assert lines[3] == "      2 ········ ·▒······ " + " ".join(["········"] * 5) + " ······▓·"
    assert lines[4].strip() == "3"  # not judged
    assert all(len(line) <= 80 for line in lines)


def test_a_map_of_a_packed_tensor_names_its_heads() -> None:
    ratio = np.zeros((1, 768))
    ratio[0, 512 + 64 + 16] = 5.0  # K, head 1, dim 16
    one = replace(error_map(ratio, group=64), tensor="qkv")
    head, line = (line.plain for line in draw(one, "·░▒▓█"))
    assert head.split() == [*(f"Q{n}" for n in range(8)), "K0", "K1", "V0", "V1"]
    assert line.split() == ["0", *["····"] * 9, "·X··", *["····"] * 2]
    assert head.index("K1") == line.index("X") - 1


def test_the_worst_value_of_a_cell_is_shown_and_nan_is_worst() -> None:
    ratio = np.zeros((100, 300))
    ratio[99, 299] = np.nan
    ratio[0, 7] = 2.0
    lines = [line.plain for line in draw(error_map(ratio), ".-+*#")]
    assert len(lines) <= 40
    assert lines[0].split() == ["0-2", "." + "X" + "." * 58]
    assert lines[-1].split() == ["99", "." * 59 + "#"]
    cells = error_map(ratio).by_cell(3, 5)
    assert math.isinf(cells[-1, -1])
    assert cells[0, 1] == 2.0


@pytest.mark.parametrize(("width", "group"), [(1, 1), (33, 1), (512, 64), (768, 64), (1408, 1), (8192, 1)])
def test_every_shape_of_tensor_fits(width: int, group: int) -> None:
    one = replace(
        error_map(np.full((2048, width), 3.0), group), tensor="qkv" if width == 768 else "activated"
    )
    one = replace(one, tensor="attention_output") if width == 512 else one
    lines = draw(one, "·░▒▓█")
    assert all(len(line.plain) <= 80 for line in lines)
    assert len(lines) <= 41
    assert pixels(one).shape[:2] >= (480, 1)


def errors(one: ErrorMap) -> Errors:
    first = None
    if one.first is not None:
        first = FirstWrong(one.tensor, 4, "spread", one.first[0], 0, one.first[1], 1.0, 2.0, 1, 8)
    return Errors("dir/a.cu", "causal-attention", "T", 4, "spread", 7, (one,), first)


def test_errors_in_words_and_json() -> None:
    ratio = np.zeros((4, 512))
    ratio[2, 3] = 40.0
    for encoding, shade in (("utf-8", "·"), ("ascii", ".")):
        text = drawn(show_errors, errors(error_map(ratio, 64)), encoding)
        assert "a.cu   causal-attention, T = 4 (spread, seed 7)" in text
        assert "1 of 2,048 values wrong" in text
        assert f"X{shade * 7}" in text
        assert "X first wrong: attention_output, row 2, head 0, dim 3" in words(text)
    (tensor,) = errors(error_map(ratio, 64)).to_json()["tensors"]
    assert (tensor["wrong_rows"], tensor["wrong_by_cell"][2]) == ([2], [1, 0, 0, 0, 0, 0, 0, 0])
    assert "first wrong" not in drawn(show_errors, errors(error_map(np.zeros((4, 512)), 64)))


def test_pixels_show_right_wrong_and_not_judged() -> None:
    ratio = np.zeros((3, 128))
    ratio[1, 100] = 1e6
    ratio[2] = np.nan
    image = pixels(error_map(ratio, 64, judged=2))
    high, wide = image.shape[0] // 3, image.shape[1] // 128
    right, wrong, unjudged = image[0, 0], image[high, 100 * wide], image[-1, 0]
    assert len({tuple(colour) for colour in (right, wrong, unjudged)}) == 3


# --- launches -----------------------------------------------------------------------------------------------


def test_a_plan() -> None:
    launches = (
        PlannedLaunch(Launch("first", (64, 1, 1), (16, 2, 1), 0, 21), 528),
        PlannedLaunch(Launch("a_kernel<64, float>", (4, 8, 2), (256, 1, 1), 49152), 0),
    )
    text = drawn(show_plan, Plan("a.cu", "rope", "T", 64, launches, 1, (256, 2048)))
    assert "launch 1    first   a.cu:21" in text
    assert "grid 64 of block 16 x 2: 64 blocks, 2,048 threads" in text
    assert "shared memory of a block: 528 B declared" in text
    assert "grid 4 x 8 x 2 of block 256: 64 blocks, 16,384 threads" in text
    assert "0 B declared, 49.2 kB dynamic" in text
    assert "memsets     1" in text
    assert "scratch     256 B + 2.05 kB" in text
    assert "scratch     none" in drawn(show_plan, Plan("a.cu", "rope", "T", 64, (), 0, ()))


def bar(kernel: str, depth: int, **changes: Any) -> Bar:
    facts: dict[str, Any] = {
        "step": "rope",
        "kernel": kernel,
        "line": 3,
        "blocks": 640,
        "counted": 64,
        "threads": 256,
        "active": 256.0,
        "depth": depth,
        "accesses": 256 * depth,
        "read": 1024 * depth,
        "written": depth,
    }
    return Bar(**{**facts, **changes})


TIMELINE = Timeline(
    "T",
    2048,
    (
        Lane("serial.cu", (bar("rotate", 10), bar("attendSerial", 4_380_000_000, active=1.0))),
        Lane("cooperative.cu", (bar("rotate", 10), bar("attendCooperative", 37_200_000))),
    ),
)


def test_a_timeline_is_drawn_to_one_scale_and_is_not_time() -> None:
    text = drawn(show_timeline, TIMELINE)
    lines = {line.split()[0]: line for line in text.splitlines() if line.split() and "█" in line}
    assert lines["attendSerial"].count("█") == 48
    assert lines["attendCooperative"].count("█") == 1
    assert lines["attendSerial"].endswith(" 4.38 G")
    assert "cooperative.cu   37.2 M, 118 times less deep than the first" in text
    assert "640 blocks (64 counted), 1 of 256 threads active" in text
    assert text.count("rotate  ") == 3  # a bar in each lane, and one line of what it is
    assert "It is not time, which needs a GPU." in words(text)
    assert "second" not in text
    assert "#" * 48 in drawn(show_timeline, TIMELINE, "ascii")


def test_a_timeline_as_a_document() -> None:
    document = json.loads(json.dumps(TIMELINE.to_json(), allow_nan=False))
    assert "not a microsecond" in document["unit"]
    assert [lane["depth"] for lane in document["lanes"]] == [4_380_000_010, 37_200_010]


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (999, "999"), (1000, "1.00 k"), (37_200_000, "37.2 M"), (4_380_000_000, "4.38 G")],
)
def test_counts(count: int, text: str) -> None:
    assert count_text(count) == text
