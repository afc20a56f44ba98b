"""What the sandbox stops, each with its sentence, and what it lets through."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tilestep.emulator.build import Builder
from tilestep.emulator.cache import Cache
from tilestep.emulator.compilers import find_compiler
from tilestep.emulator.sandbox import Ended, Limits, private_folder, protections, run_limited, stop_everything

MIB = 1024 * 1024
TIGHT = Limits(
    seconds=10,
    cpu_seconds=10,
    memory_bytes=200 * MIB,
    file_bytes=20 * MIB,
    folder_bytes=40 * MIB,
    output_bytes=2 * MIB,
)

on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="system calls and files are only filtered on Linux"
)


@pytest.fixture(scope="module")
def confine() -> Path:
    return Builder(find_compiler(), Cache()).confine


@pytest.fixture(scope="module")
def naughty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("naughty") / "naughty"
    source = Path(__file__).parent / "naughty.cpp"
    link = Builder(find_compiler(), Cache()).toolchain.recipe("fast").links[0]
    subprocess.run(
        [*find_compiler().argv, "-std=c++17", "-O1", "-w", str(source), *link, "-o", str(program)], check=True
    )
    return program


def end_of(naughty: Path, confine: Path, *arguments: str, limits: Limits = TIGHT) -> Ended:
    with private_folder() as folder:
        return run_limited([str(naughty), *arguments], folder, limits, confine)


@on_linux
def test_this_machine_can_lock_a_program_up(confine: Path) -> None:
    assert protections(confine) == {"processes and sockets": True, "files": True, "network": True}


@pytest.mark.parametrize(("what", "code"), [("nothing", 0), ("seven", 7), ("threads", 0), ("write here", 0)])
def test_lets_a_worker_do_its_work(naughty: Path, confine: Path, what: str, code: int) -> None:
    ended = end_of(naughty, confine, what)
    assert (ended.code, ended.why, ended.timed_out) == (code, "", False)


@on_linux
@pytest.mark.parametrize("what", ["fork", "shell", "exec", "socket", "trace", "signal"])
def test_kills_what_reaches_outside(naughty: Path, confine: Path, what: str) -> None:
    ended = end_of(naughty, confine, what)
    assert ended.why == "it tried to start a process, open a socket or reach into another process"


@on_linux
def test_keeps_it_to_its_own_folder(naughty: Path, confine: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("nobody's business")
    assert end_of(naughty, confine, "outside", str(tmp_path / "new")).code == 3
    assert end_of(naughty, confine, "outside", str(secret)).code == 3
    assert end_of(naughty, confine, "read", str(secret)).code == 3
    assert end_of(naughty, confine, "folder").code == 3
    assert sorted(tmp_path.iterdir()) == [secret]


@on_linux
def test_its_limits_cannot_be_loosened(naughty: Path, confine: Path) -> None:
    assert end_of(naughty, confine, "loosen").code == 3


def test_it_sees_no_environment(naughty: Path, confine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "hush")
    seen = end_of(naughty, confine, "environment").stdout.decode()
    names = {line.split("=")[0] for line in seen.splitlines()}
    assert names == {"PATH", "LANG", "LC_ALL", "TMPDIR"}


@pytest.mark.parametrize("what", ["hang", "deaf", "spin"])
def test_ends_what_does_not_end(naughty: Path, confine: Path, what: str) -> None:
    ended = end_of(naughty, confine, what, limits=replace(TIGHT, seconds=0.3))
    assert (ended.timed_out, ended.why) == (True, "it was still running after 0.3 seconds")
    assert 0.3 <= ended.seconds < 2


def test_ends_what_uses_too_much_processor_time(naughty: Path, confine: Path) -> None:
    ended = end_of(naughty, confine, "spin", limits=replace(TIGHT, cpu_seconds=1))
    assert (ended.timed_out, ended.why) == (True, "it used more than 1 seconds of processor time")


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("flood", "it printed more than 2 MB"),
        ("memory", "it used more than 200 MB of memory"),
        ("big file", "it wrote more than 20 MB to one file"),
        ("many files", "it wrote more than 40 MB to disk"),
        ("segfault", "it reached for memory that is not its own (segmentation fault)"),
        ("abort", "it aborted itself"),
    ],
)
def test_says_what_ended_it(naughty: Path, confine: Path, what: str, why: str) -> None:
    ended = end_of(naughty, confine, what)
    assert ended.why == why
    assert len(ended.stdout) <= MIB


def children_named(name: str) -> list[int]:
    """This process's children of that name, the dead that nobody has waited for among them."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = status.read_text().split(" (", 1)
        except OSError:
            continue  # it ended while we looked
        command, _, fields = rest.rpartition(") ")
        if command == name and int(fields.split()[1]) == os.getpid():
            found.append(int(pid))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="children are read from /proc")
def test_leaves_no_folder_and_no_process(naughty: Path, confine: Path) -> None:
    with private_folder() as folder:
        kept = folder
        run_limited([str(naughty), "write here"], folder, TIGHT, confine)
        assert (folder / "kept.txt").read_text() == "kept"
    assert not kept.exists()
    assert not children_named(naughty.name)


def test_what_some_threads_wait_for_can_be_stopped_at_once(naughty: Path, confine: Path) -> None:
    ended: list[Ended] = []
    runs = [threading.Thread(target=lambda: ended.append(end_of(naughty, confine, "hang"))) for _ in range(3)]
    for run in runs:
        run.start()
    began = time.monotonic()
    while len(ended) < 3 and time.monotonic() - began < 8:
        time.sleep(0.05)
        stop_everything([run.ident for run in runs if run.ident is not None])
    for run in runs:
        run.join()
    assert [one.code for one in ended] == [-9, -9, -9]
    assert all(one.seconds < 8 for one in ended)


def test_a_missing_program_is_said(confine: Path) -> None:
    with private_folder() as folder:
        ended = run_limited(["/nowhere/at/all"], folder, TIGHT, confine)
    assert ended.code == 126
    assert b"No such file" in ended.stderr
