"""The command as a person runs it: a child process, its streams, its exit code, what an interrupt leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tilestep import kernels

ENDLESS = """__global__ void attend(const float* qkv, float* out, int T) {
  volatile float* cell = out;
  while (cell[0] != 7.0f) cell[0] = qkv[0];
}
void runCausalAttention(const float* qkv, float* attnOut, int T) { attend<<<1, 1>>>(qkv, attnOut, T); }
"""


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "tilestep", *words]


def test_json_is_all_that_is_on_stdout() -> None:
    file = str(kernels.path("attention/03_online.cu"))
    ended = subprocess.run(
        command("judge", file, "--json", "--lengths", "2,33", "--seed", "4"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    document = json.loads(ended.stdout)
    assert document["schema"] == 1
    assert document["outcome"] == "passed"
    assert document["seed"] == 4
    assert document["target"]["kind"] == "cpu"
    assert document["target"]["name"].startswith("emulator, ")
    assert document["speed"] is None
    assert {case["length"] for case in document["cases"]} == {2, 33}
    assert len(document["submission"]["sha256"]) == 64


def test_the_verdict_for_a_person_is_plain_text_in_a_pipe() -> None:
    file = str(kernels.path("attention/02_cooperative.cu"))
    ended = subprocess.run(
        command("judge", file, "--step", "causal-attention", "--lengths", "33"),
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "80"},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "02_cooperative.cu   PASSED   causal-attention" in ended.stdout
    assert "speed         not judged here, no GPU" in ended.stdout
    assert "\x1b" not in ended.stdout
    assert ended.stderr == ""


def interrupt(process: subprocess.Popen[str], number: signal.Signals, begun: Callable[[], bool]) -> str:
    """Sends a signal as soon as `begun`, and returns what the process said on standard error."""
    deadline = time.monotonic() + 60
    while not begun() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.1)
    process.send_signal(number)
    return process.communicate(timeout=15)[1]


def start(file: Path, private: Path, **environment: str) -> subprocess.Popen[str]:
    private.mkdir()
    return subprocess.Popen(
        command("judge", str(file), "--lengths", "1"),
        env={**os.environ, "TMPDIR": str(private), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_a_kernel_runs_leaves_nothing_behind(
    tmp_path: Path, number: signal.Signals
) -> None:
    file, private = tmp_path / "endless.cu", tmp_path / "private"
    file.write_text(ENDLESS, encoding="utf-8")
    process = start(file, private)
    errors = interrupt(process, number, lambda: any(private.glob("*/job.txt")))
    assert process.returncode == 128 + number, errors
    assert "Traceback" not in errors
    assert list(private.iterdir()) == []


def test_an_interrupt_while_the_runtime_is_compiled_leaves_nothing_behind(tmp_path: Path) -> None:
    file, private, cache = tmp_path / "endless.cu", tmp_path / "private", tmp_path / "cache"
    file.write_text(ENDLESS, encoding="utf-8")
    process = start(file, private, TILESTEP_CACHE=str(cache))
    errors = interrupt(process, signal.SIGINT, lambda: any(private.glob("*/runtime.cpp")))
    assert process.returncode == 130, errors
    assert list(private.iterdir()) == []
    assert not list(cache.rglob("making-*"))
