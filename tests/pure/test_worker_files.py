"""What the worker is handed, and what is made of whatever it leaves."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilestep.emulator import refusals
from tilestep.emulator.worker_files import (
    RESULT,
    BadFileError,
    read_events,
    read_output,
    text,
    triple,
    whole,
    write_job,
)
from tilestep.program import Buffer, Job, Piece

OUT = Buffer("y", 2, 3, "out")


def test_a_job_as_the_worker_reads_it(tmp_path: Path) -> None:
    data = np.arange(12, dtype=np.float64).reshape(2, 6)[:, ::2]  # neither float32 nor contiguous
    regions = (("K", 1, 3),)
    buffers = (Buffer("x", 2, 3, "in", data, regions), OUT)  # type: ignore[arg-type]
    job = Job(
        buffers, (2, 7), mode="traffic", order="random 9", threads=2, budget=5, timeout=1.5, scratch_bytes=64
    )
    write_job(tmp_path, job)
    assert (tmp_path / "job.txt").read_text().splitlines() == [
        "mode traffic",
        "threads 2",
        "order random 9",
        "budget 5",
        "timeout 1.5",
        "scratch 64",
        "buffer x in 2 3 in.x.bin",
        "range x K 4 12",
        "buffer y out 2 3 -",
        "size 2",
        "size 7",
    ]
    assert np.fromfile(tmp_path / "in.x.bin", np.float32).tolist() == [0, 2, 4, 6, 8, 10]


def test_a_job_that_watches(tmp_path: Path) -> None:
    write_job(tmp_path, Job((OUT,), (), mode="watch", watch=Piece("y", 3, 6), sample=64))
    lines = (tmp_path / "job.txt").read_text().splitlines()
    assert lines[0] == "mode watch"
    assert lines[-2:] == ["watch y 12 24", "sample 64"]  # bytes


def test_a_buffer_of_another_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="buffer x holds 4 values, not 2 x 3"):
        write_job(tmp_path, Job((Buffer("x", 2, 3, "in", np.zeros(4, np.float32)),), ()))


def test_events_survive_a_cut_line_and_nonsense(tmp_path: Path) -> None:
    lines = [
        '{"event":"launch","index":0}',
        "[1]",
        '{"no":"event"}',
        '{"event":3}',
        "[" * 100_000,
        '{"event":"do',
    ]
    (tmp_path / RESULT).write_text("\n".join(lines))
    assert read_events(tmp_path) == [{"event": "launch", "index": 0}]


def test_no_result_is_no_event(tmp_path: Path) -> None:
    assert read_events(tmp_path) == []


@given(st.binary(max_size=300))
def test_no_bytes_in_the_result_are_an_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("result")
    (folder / RESULT).write_bytes(data)
    assert isinstance(read_events(folder), list)


def test_texts_cannot_drive_a_terminal(tmp_path: Path) -> None:
    (tmp_path / RESULT).write_text('{"event":"launch","kernel":"a\\u001b[2Jb","grid":[1,{"a":1},3]}')
    (event,) = read_events(tmp_path)
    assert event["kernel"] == "a [2Jb"
    assert triple(event, "grid") is None


def test_fields_of_the_wrong_type_are_the_default() -> None:
    event = {"event": "x", "a": "1", "b": True, "c": 4, "d": [1, 2, True], "e": [1, 2, 3]}
    assert [whole(event, key) for key in "abcz"] == [0, 0, 4, 0]
    assert [text(event, key) for key in "ac"] == ["1", ""]
    assert [triple(event, key) for key in "cde"] == [None, None, (1, 2, 3)]


def test_an_output_of_the_right_size(tmp_path: Path) -> None:
    values = np.arange(6, dtype=np.float32)
    values.tofile(tmp_path / "out.y.bin")
    np.testing.assert_array_equal(read_output(tmp_path, OUT), values.reshape(2, 3))


@pytest.mark.parametrize("size", [0, 23, 25, 4000])
def test_an_output_of_another_size_is_broken(tmp_path: Path, size: int) -> None:
    (tmp_path / "out.y.bin").write_bytes(b"\0" * size)
    with pytest.raises(BadFileError, match="not 24"):
        read_output(tmp_path, OUT)


def test_links_pipes_and_folders_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\0" * 24)
    (tmp_path / "out.y.bin").symlink_to(tmp_path / "secret")
    with pytest.raises(BadFileError, match=r"there is no out\.y\.bin"):
        read_output(tmp_path, OUT)
    (tmp_path / "out.y.bin").unlink()
    os.mkfifo(tmp_path / "out.y.bin")
    with pytest.raises(BadFileError, match="no plain file"):
        read_output(tmp_path, OUT)
    (tmp_path / "out.y.bin").unlink()
    with pytest.raises(BadFileError, match=r"there is no out\.y\.bin"):
        read_output(tmp_path, OUT)


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (
            {"why": "stream", "call": "cudaStreamCreate"},
            (
                "cudaStreamCreate: a seam must not make streams or use another than the default one: "
                "its launches run in order"
            ),
        ),
        (
            {"why": "device_memory_on_host"},
            "host code of the seam reads or writes device memory: only kernels may",
        ),
        (
            {"why": "scratch", "bytes": 16_777_216},
            "the seam asks for 16.78 MB of device memory, more than this step allows for workspace",
        ),
        (
            {"why": "scratch", "bytes": 100},
            "the seam asks for 100 bytes of device memory, more than this step allows for workspace",
        ),
        ({"why": "new"}, "the seam is refused (new)"),
        ({}, "the seam is refused (no reason given)"),
    ],
)
def test_refusals_are_sentences(event: dict[str, object], says: str) -> None:
    assert refusals.refused({"event": "refused", **event}) == says


def test_endings_say_who_was_running() -> None:
    event = {
        "event": "crash",
        "kernel": "attend",
        "block": [5, 0, 0],
        "thread": [3, 2, 0],
        "signal": "SIGSEGV",
    }
    assert refusals.crashed(event) == "it crashed in kernel attend, block 5, thread (3, 2): SIGSEGV"
    assert refusals.crashed({**event, "why": "null pointer"}).endswith(": null pointer (SIGSEGV)")
    assert refusals.timed_out({"event": "timeout", "kernel": None}, 20) == (
        "it was still running after 20 seconds in host code"
    )
