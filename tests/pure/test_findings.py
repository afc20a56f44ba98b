"""What a finding says: complete when everything is known, never wrong when parts are not."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest

from tilestep.emulator.findings import CATALOGUE, CODE, describe, without_consequences
from tilestep.emulator.symbolise import Place

HERE = Place("attention.cu", 41)
THERE = Place("attention.cu", 38)


def race(**parts: Any) -> dict[str, Any]:
    return {
        "event": "finding",
        "code": "race-shared",
        "kernel": "attend",
        "array": "tile",
        "element": 516,
        "block": [5, 0, 0],
        "thread": [33, 0, 0],
        "other_block": [5, 0, 0],
        "other_thread": [1, 0, 0],
        "detail": "write-read",
        "count": 7,
    } | parts


def says(event: dict[str, Any], where: Place | None = HERE, other: Place | None = THERE) -> str:
    return describe(event, where, other).says


def test_a_race_names_both_threads_and_the_other_line() -> None:
    finding = describe(race(), HERE, THERE, {"tile": (32, 32)})
    assert finding.says == (
        "in attend, thread 33 of block 5 reads tile[4][1] (byte 516) that thread 1 wrote at line 38, "
        "with no barrier between"
    )
    assert (finding.code, finding.file, finding.line) == ("race-shared", "attention.cu", 41)
    assert (finding.kernel, finding.array, finding.count) == ("attend", "tile", 7)
    assert (finding.block, finding.thread) == ((5, 0, 0), (33, 0, 0))


def test_without_a_shape_the_byte_is_told() -> None:
    assert "reads byte 516 of tile that thread 1 wrote" in says(race())


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"detail": "read-write"}, "writes byte 516 of tile that thread 1 read at line 38"),
        ({"detail": "write-write"}, "writes byte 516 of tile that thread 1 wrote as well at line 38"),
        ({"detail": "atomic-read"}, "reads byte 516 of tile that thread 1 atomically updated"),
        ({"other_thread": [40, 0, 0]}, "with no __syncwarp or barrier between"),
        ({"thread": [1, 2, 0]}, "thread (1, 2, 0) of block 5"),
        (
            {"code": "race-global", "array": "out", "other_block": [2, 1, 0]},
            "that thread 1 of block (2, 1, 0) wrote at line 38; the blocks of one launch run in no order",
        ),
    ],
)
def test_kinds_of_races(parts: dict[str, Any], words: str) -> None:
    assert words in says(race(**parts))


def test_a_race_with_itself_in_one_line() -> None:
    assert "wrote as well at the same line" in says(race(detail="write-write"), HERE, HERE)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (
            {"code": "out-of-bounds-global", "array": "qkv", "element": 1024, "detail": "read"},
            "reads byte 1024 of qkv, which lies past its end",
        ),
        (
            {"code": "out-of-bounds-shared", "array": "tile", "element": -4, "detail": "write"},
            "writes memory 4 bytes before the start of tile",
        ),
        (
            {"code": "guard-band", "array": "attnOut", "element": 70, "detail": "after"},
            "memory past the end of attnOut was written during the run",
        ),
        (
            {"code": "uninitialised-shared", "array": "sums", "element": 8},
            "reads byte 8 of sums, which nobody",
        ),
        (
            {"code": "uninitialised-global", "array": "attnOut", "element": 0, "detail": "atomic"},
            "atomically updates byte 0 of attnOut",
        ),
        ({"code": "divergent-barrier", "detail": "different-barriers"}, "waits at the barrier at line 38"),
        (
            {"code": "divergent-barrier", "detail": "early-exit", "other_thread": [40, 0, 0]},
            "but thread 40 has already left the kernel",
        ),
        (
            {"code": "misaligned", "array": "qkv", "element": 4, "detail": "16"},
            "accesses 16 bytes at byte 4 of qkv, an address that is no multiple of 16",
        ),
        (
            {"code": "input-written", "array": "qkv", "element": 4, "detail": "write"},
            "writes byte 4 of qkv, an input",
        ),
        (
            {"code": "input-written", "array": "qkv", "element": -1},
            "the input qkv was changed during the run",
        ),
        (
            {"code": "constant-written", "array": "scale", "element": 0},
            "writes byte 0 of scale, a __constant__",
        ),
        (
            {"code": "launch-refused", "detail": "1056 threads a block, at most 1024"},
            "refuse this launch: 1056 threads a block, at most 1024",
        ),
        ({"code": "bad-pointer", "detail": "null pointer"}, "follows a null pointer"),
        ({"code": "bad-pointer", "detail": "host memory"}, "follows a pointer to host memory"),
        (
            {"code": "shuffle-mask", "element": 255, "detail": "caller-not-named"},
            "with a mask 0xff that does not name its own lane",
        ),
        (
            {"code": "shuffle-mask", "detail": "exited-lane", "other_thread": [5, 0, 0]},
            "names thread 5, which has already left",
        ),
        ({"code": "deadlock", "detail": "warp"}, "waits for lanes of its warp that can no longer come"),
        ({"code": "stack-overflow"}, "has used up its stack"),
        ({"code": "endless-loop"}, "most likely never ends"),
        (
            {"code": "assert-failed", "detail": "assertion l > 0 failed"},
            "stops the kernel: assertion l > 0 failed",
        ),
    ],
)
def test_sentences(event: dict[str, Any], words: str) -> None:
    assert words in says({"event": "finding", "thread": [3, 0, 0], "block": [0, 0, 0], **event})


@pytest.mark.parametrize("code", CODE)
def test_a_bare_event_still_makes_a_sentence(code: str) -> None:
    finding = describe({"event": "finding", "code": code}, None, None)
    assert finding.code == code
    assert len(finding.says) > 15
    assert "None" not in finding.says
    assert (finding.line, finding.file, finding.block, finding.count) == (None, "", None, 1)


def test_a_racing_read_before_any_write_is_told_as_a_race_only() -> None:
    racing = describe(race(), HERE, THERE)
    early = describe(race(code="uninitialised-shared", detail="read"), HERE, None)
    elsewhere = describe(race(code="uninitialised-shared", detail="read"), THERE, None)
    other_array = describe(race(code="uninitialised-shared", detail="read", array="sums"), HERE, None)
    assert without_consequences([early, racing, elsewhere, other_array]) == (racing, elsewhere, other_array)
    assert without_consequences([early]) == (early,)


def test_an_unknown_code_is_kept() -> None:
    finding = describe({"event": "finding", "code": "new-fault", "detail": "why"}, HERE, None)
    assert finding.code == "new-fault"
    assert "new fault (why)" in finding.says


def test_the_line_of_the_event_stands_in_for_a_place() -> None:
    assert describe({"event": "finding", "code": "launch-refused", "line": 12}, None, None).line == 12


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.code)
def test_every_code_has_a_page_for_learners(entry: Any) -> None:
    page = files("tilestep").joinpath("explain", f"{entry.code}.md").read_text(encoding="utf-8")
    lines = page.rstrip().splitlines()
    assert lines[0] == f"# {entry.title}"
    assert 12 <= len(lines) <= 40
    assert "```" in page
    for part in ("**Symptom.**", "**Cause.**", "**Fix.**", "**On a GPU.**"):
        assert part in page
