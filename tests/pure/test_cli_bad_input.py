"""Files that are no submission: one clear sentence on stderr, exit code 2, a verdict with --json."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tilestep.cli import cli

SEAM = "void runCausalAttention(const float* qkv, float* attnOut, int T)"
KERNEL = "__global__ void attend(const float* qkv, float* out, int T) {}\n"


def make_nothing(path: Path) -> None:
    assert not path.exists()


def write(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "no such file": (make_nothing, "no such file"),
    "a directory": (Path.mkdir, "directory"),
    "a pipe": (os.mkfifo, "not a regular file"),
    "without an end": (lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
    "empty": (write(b""), "empty"),
    "only white space": (write(b" \n\t\n"), ""),
    "binary": (write(b"\x7fELF\x00\x01\x02"), "binary"),
    "10 MB": (write(b"// a long comment\n" * 600_000), "MB"),
    "not UTF-8": (write(KERNEL.encode() + b"// caf\xe9\n"), "UTF-8"),
    "no seam": (write(KERNEL.encode()), "runCausalAttention"),
    "wrong signature": (
        write((KERNEL + "void runCausalAttention(float* qkv) { attend<<<1, 1>>>(qkv, qkv, 1); }\n").encode()),
        SEAM,
    ),
    "no kernel": (write(f"{SEAM} {{}}\n".encode()), "__global__"),
}


@pytest.mark.parametrize("name", BAD)
def test_one_sentence_and_exit_code_2(tmp_path: Path, name: str) -> None:
    make, says = BAD[name]
    path = tmp_path / "attention.cu"
    make(path)
    result = CliRunner().invoke(cli, ["judge", str(path)])
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(str(path))
    assert says in lines[0]


@pytest.mark.parametrize("name", BAD)
def test_json_is_a_verdict(tmp_path: Path, name: str) -> None:
    path = tmp_path / "attention.cu"
    BAD[name][0](path)
    result = CliRunner().invoke(cli, ["judge", str(path), "--json"])
    assert result.exit_code == 2
    assert result.stderr == ""
    document = json.loads(result.stdout)
    assert document["outcome"] == "refused"
    assert document["submission"]["file"] == str(path)
    assert document["says"].startswith(str(path))
    assert document["cases"] == []
