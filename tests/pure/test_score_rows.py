"""From a log of shared memory to a row of scores: played back, and found by its values alone."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilestep.emulator.symbolise import Place
from tilestep.emulator.watch_log import LOG, counters, read_log, watched_blocks, work
from tilestep.emulator.worker_files import BadFileError
from tilestep.inspect import rows
from tilestep.inspect.memory import Moment, moments
from tilestep.inspect.rows import ATTENTION_FACTORS, Doubles, Form, Values, of_another
from tilestep.program import SharedArray, SharedEvent, WatchedBlock, Work

RNG = np.random.default_rng(5)


# --- the log ------------------------------------------------------------------------------------------------


def entry(kind: int, offset: int = 0, data: bytes = b"", epoch: int = 1, place: int = 0) -> bytes:
    return struct.pack("<IIIIq", kind, offset, len(data), epoch, place) + data


def test_a_log_as_the_worker_writes_it(tmp_path: Path) -> None:
    assert read_log(tmp_path) == []
    first = entry(0) + entry(1, 64, b"abcd", 1, 7) + entry(2, 0, b"", 1, 9)
    (tmp_path / LOG).write_bytes(first + entry(0, place=1) + entry(1, 128, b"12345678", 3, -7))
    blocks = read_log(tmp_path)
    assert [[(e.kind, e.epoch, e.counter, e.offset, e.data) for e in block] for block in blocks] == [
        [("write", 1, 7, 64, b"abcd"), ("barrier", 1, 9, 0, b"")],
        [("write", 3, -7, 128, b"12345678")],
    ]
    assert counters(blocks) == {7, 9, -7}


def test_a_log_that_ends_early_keeps_its_whole_entries(tmp_path: Path) -> None:
    whole = entry(0) + entry(1, 64, b"abcd")
    (tmp_path / LOG).write_bytes(whole + entry(2)[:10])
    assert [len(block) for block in read_log(tmp_path)] == [1]


@pytest.mark.parametrize(
    "data",
    [
        entry(1, 64, b"abcd"),  # before any block
        entry(0) + entry(9),
        entry(0) + entry(1, 64, b"abcd")[:-1],
        entry(0) + entry(1, 256 * 1024 - 2, b"abcd"),
        entry(0) + struct.pack("<IIIIq", 1, 0, 2**32 - 1, 1, 0),
    ],
)
def test_a_log_that_is_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / LOG).write_bytes(data)
    with pytest.raises(BadFileError):
        read_log(tmp_path)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_log_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("log")
    (folder / LOG).write_bytes(entry(0) + data)
    try:
        blocks = read_log(folder)
    except BadFileError:
        return
    assert sum(len(e.data) for block in blocks for e in block) <= len(data)


def test_blocks_and_work_from_events(tmp_path: Path) -> None:
    (tmp_path / LOG).write_bytes(entry(0) + entry(1, 64, b"abcd", 2, 7))
    events = [
        {"event": "watched-block", "launch": 1, "kernel": "k", "line": 3, "block": [4, 5, 6]},
        {"event": "watched-array", "of": 0, "array": "a", "begin": 64, "end": 96, "row_bytes": 16},
        {"event": "watched-array", "of": 1, "array": "b", "begin": 64, "end": 96, "row_bytes": 16},
        {"event": "work", "launch": 1, "blocks": 2, "threads": 64, "accesses": 9, "longest": 3},
    ]
    (block,) = watched_blocks(events, read_log(tmp_path), {7: Place("a.cu", 12)})
    assert (block.launch, block.kernel, block.line, block.block) == (1, "k", 3, (4, 5, 6))
    assert block.arrays == (SharedArray("a", 64, 96, 16),)
    assert block.events == (SharedEvent("write", 2, 12, 64, b"abcd"),)
    assert work(events) == (Work(1, 2, 64, 0, 9, 0, 3, 0, 0, 0),)


# --- moments ------------------------------------------------------------------------------------------------


def write(offset: int, values: list[float], line: int = 5, epoch: int = 1) -> SharedEvent:
    return SharedEvent("write", epoch, line, offset, np.array(values, np.float32).tobytes())


def barrier(line: int, epoch: int = 1) -> SharedEvent:
    return SharedEvent("barrier", epoch, line)


def played(*events: SharedEvent, floats: int = 4) -> list[tuple[str, list[float | None]]]:
    block = WatchedBlock(0, "k", 1, (0, 0, 0), events=events)
    found = moments(block, SharedArray("a", 64, 64 + 4 * floats))
    return [
        (m.says, [float(v) if w else None for v, w in zip(m.values, m.written, strict=True)]) for m in found
    ]


def test_an_array_is_looked_at_at_barriers_and_at_the_end() -> None:
    assert played(
        write(64, [1, 2]), barrier(7), barrier(8), write(72, [3, 4]), barrier(9), write(64, [5])
    ) == [
        ("at the barrier in line 7", [1, 2, None, None]),
        ("at the barrier in line 9", [1, 2, 3, 4]),
        ("when the block ended", [5, 2, 3, 4]),
    ]


def test_a_serial_loop_has_no_barrier() -> None:
    """Scores are whole just before the first of them becomes a probability."""
    assert played(write(64, [1, 2, 3]), write(64, [9], line=20), write(68, [8, 7], line=20)) == [
        ("before line 20 writes it anew", [1, 2, 3, None]),
        ("when the block ended", [9, 8, 7, None]),
    ]


def test_a_sum_in_progress_is_no_moment() -> None:
    assert played(*(write(64, [n]) for n in range(50))) == [("when the block ended", [49, None, None, None])]


def test_writes_around_the_array_and_to_none() -> None:
    assert played(write(60, [9, 1, 2]), write(76, [4, 9])) == [("when the block ended", [1, 2, None, 4])]
    assert played(write(0, [1]), write(80, [1]), barrier(3)) == []


# --- rows ---------------------------------------------------------------------------------------------------


def moment(values: Doubles) -> Moment:
    array = values.astype(np.float32)
    return Moment(array, np.isfinite(array), "end", None, 1)


def row(length: int, visible: int) -> tuple[Doubles, Doubles]:
    return RNG.standard_normal(length) * 2, np.full(length, 8.0)


def forms(scores: Doubles, scale: Doubles, visible: int) -> list[Form]:
    return rows.forms("score", scores, scale, visible, ATTENTION_FACTORS)


def test_a_row_is_found_at_any_start_and_stride() -> None:
    scores, scale = row(64, 41)
    (score, *_) = forms(scores, scale, 41)
    for start, stride in ((0, 1), (7, 1), (3, 33), (900, -2)):
        memory = RNG.standard_normal(3000) * 50
        memory[start + stride * np.arange(41)] = scores[:41]
        piece = Values(moment(memory)).longest_piece(score)
        assert piece is not None
        assert (piece.first, piece.count, piece.start, piece.stride) == (0, 41, start, stride)
        assert piece.element(40) == start + 40 * stride


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("score", lambda s: s),
        ("score without the scale", lambda s: 8 * s),
        ("score in base 2", lambda s: s * np.log2(np.e)),
        ("exp(score - maximum)", lambda s: np.exp(s - s.max())),
        ("probability", lambda s: np.exp(s - s.max()) / np.exp(s - s.max()).sum()),
        ("exp(score)", np.exp),
    ],
)
def test_each_form_is_told_from_the_others(name: str, values: object) -> None:
    scores, scale = row(64, 41)
    memory = np.full(100, np.nan)
    memory[5:46] = values(scores[:41])  # type: ignore[operator]
    found = {
        form.name
        for form in forms(scores, scale, 41)
        if Values(moment(memory)).longest_piece(form) is not None
    }
    assert found == {name}


def test_what_a_tile_was_exponentiated_under_is_found() -> None:
    scores, scale = np.linspace(-3, 3, 64), np.full(64, 8.0)  # the maximum moves at every key
    memory = np.exp(scores[:16] - scores[15])
    names = [
        (form.name, piece.first, piece.count)
        for form in forms(scores, scale, 64)
        if (piece := Values(moment(memory)).longest_piece(form))
    ]
    assert ("exp(score - maximum)", 0, 16) in names


def test_neighbours_that_fit_by_chance_do_not_hide_where_a_row_begins() -> None:
    scores, scale = row(64, 64)
    (score, *_) = forms(scores, scale, 64)
    memory = np.full(200, np.nan)
    memory[100:150] = scores[14:]
    memory[30:33] = scores[13:16]  # three keys, the last two of which are the row's first
    piece = Values(moment(memory)).longest_piece(score)
    assert piece is not None
    assert (piece.first, piece.count, piece.start) == (14, 50, 100)


def test_chance_is_no_row() -> None:
    scores, scale = row(128, 128)
    memory = Values(moment(RNG.standard_normal(12_000) * 2))
    assert all(memory.longest_piece(form) is None for form in forms(scores, scale, 128))


def test_what_has_underflowed_is_nowhere() -> None:
    scores = np.array([0.0, *np.full(40, -200.0)])
    zeros = Values(moment(np.zeros(64)))
    assert all(zeros.longest_piece(form) is None for form in forms(scores, np.full(41, 8.0), 41)[3:])


def test_one_visible_key_is_found() -> None:
    scores, scale = row(8, 1)
    piece = Values(moment(scores)).longest_piece(forms(scores, scale, 1)[0])
    assert piece is not None
    assert (piece.count, piece.start) == (1, 0)


def test_the_scores_of_another_head_stand_beside_the_right_ones() -> None:
    scores, scale = row(16, 9)
    right = forms(scores, scale, 9)[0]
    other = of_another("score of query head 0", scores + 1, right)
    assert other.right is right
    assert np.array_equal(other.values, scores + 1)
    assert other.visible == 9
