"""Cheats that are not a file's text: what lies beside it, what it is called, what it turns into meanwhile.

The judge is run as a person runs it, from a folder that somebody prepared.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cheats.corpus import HERE

from tilestep.judge import judge
from tilestep.judge.schedule import Progress

SOURCES = HERE.parents[1] / "src"
LENGTHS = (1, 33)
RIGHT = (HERE.parent / "right/block-sum/01-thread-a-row.cu").read_text(encoding="utf-8")
WRONG = RIGHT.replace("sum += x", "sum -= x")
FORGED = 'raise SystemExit("forged")\n'
# What the judge imports, and a person might find in a folder that was sent to him.
MODULES = ("numpy", "click", "rich", "json", "secrets", "hashlib", "subprocess", "elftools", "platformdirs")


def run(
    file: str | Path, cwd: Path, *start: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Judges a file for block-sum; `start` starts the judge, by default with `python -m tilestep`."""
    begin = start or ("-m", "tilestep")
    asked = ["judge", str(file), "--step", "block-sum", "--lengths", ",".join(map(str, LENGTHS)), "--json"]
    return subprocess.run(
        [sys.executable, *begin, *asked],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(SOURCES), **(environment or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def verdict_of(ended: subprocess.CompletedProcess[str], code: int) -> dict[str, Any]:
    """The one JSON document on standard output."""
    assert ended.returncode == code, ended.stdout + ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "sum.cu"
    path.write_text(WRONG, encoding="utf-8")
    return path


@pytest.fixture
def right(tmp_path: Path) -> Path:
    path = tmp_path / "sum.cu"
    path.write_text(RIGHT, encoding="utf-8")
    return path


# --- what lies beside the file, or where the judge is started -----------------------------------------------


def forge(folder: Path, *modules: str) -> None:
    for name in modules:
        (folder / f"{name}.py").write_text(FORGED, encoding="utf-8")


def test_modules_in_the_current_folder_are_not_imported(wrong: Path, tmp_path: Path) -> None:
    forge(tmp_path, *MODULES, "sitecustomize")
    assert verdict_of(run(wrong.name, tmp_path), 1)["outcome"] == "wrong"


def test_a_forged_tilestep_beside_the_file_is_not_imported(wrong: Path, tmp_path: Path) -> None:
    forge(tmp_path, *MODULES)
    (tmp_path / "tilestep/judge").mkdir(parents=True)
    for name in ("__init__", "__main__", "reference", "tolerance", "judge/__init__"):
        (tmp_path / f"tilestep/{name}.py").write_text(FORGED, encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert verdict_of(run(wrong, elsewhere), 1)["outcome"] == "wrong"
    # From that very folder: with the command that pip installs, a script in a folder of its own.
    script = elsewhere / "tilestep"
    script.write_text("import sys\nfrom tilestep.cli import main\nsys.exit(main())\n", encoding="utf-8")
    assert verdict_of(run(wrong.name, tmp_path, str(script)), 1)["outcome"] == "wrong"


def test_headers_beside_the_file_are_not_included(tmp_path: Path, right: Path) -> None:
    for name in ("cuda_fp16.h", "cmath", "cuda_runtime.h", "tilestep_contract.h"):
        (tmp_path / name).write_text("#error forged\n", encoding="utf-8")
    right.write_text("#include <cuda_fp16.h>\n#include <cmath>\n" + RIGHT, encoding="utf-8")
    folders = {"CPATH": str(tmp_path), "CPLUS_INCLUDE_PATH": str(tmp_path), "LIBRARY_PATH": str(tmp_path)}
    assert verdict_of(run(right, tmp_path, environment=folders), 0)["outcome"] == "passed"


def test_variables_of_the_environment_change_no_verdict(tmp_path: Path, wrong: Path) -> None:
    library = tmp_path / "preloaded.so"
    source = tmp_path / "preloaded.cpp"
    seen = tmp_path / "seen"
    source.write_text(
        "#include <cstdio>\n#include <cstring>\n#include <unistd.h>\n"
        "__attribute__((constructor)) void first() {\n"
        "  char name[256] = {};\n"
        '  if (readlink("/proc/self/exe", name, 255) > 0 && strstr(name, "fast-"))\n'
        f'    fclose(fopen("{seen}", "w"));\n'
        "}\n",
        encoding="utf-8",
    )
    subprocess.run(["g++", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)  # noqa: S607
    forged = {"TILESTEP_OUTCOME": "passed", "TILESTEP_SEED": "0", "TILESTEP_STEP": "rmsnorm"}
    ended = run(wrong, tmp_path, environment={**forged, "LD_PRELOAD": str(library)})
    verdict = verdict_of(ended, 1)
    assert (verdict["outcome"], verdict["step"]) == ("wrong", "block-sum")
    assert not seen.exists()


# --- what the file is ---------------------------------------------------------------------------------------


def test_a_link_is_judged_as_what_it_points_to(tmp_path: Path, wrong: Path) -> None:
    link = tmp_path / "link.cu"
    link.symlink_to(wrong)
    verdict = verdict_of(run(link, tmp_path), 1)
    assert verdict["outcome"] == "wrong"
    assert verdict["submission"]["sha256"] == hashlib.sha256(WRONG.encode()).hexdigest()


@pytest.mark.parametrize(
    ("target", "says"),
    [("itself.cu", "Too many levels"), ("nowhere.cu", "no such file"), ("/dev/zero", "not a regular file")],
)
def test_a_link_to_nothing_that_can_be_judged_is_refused(tmp_path: Path, target: str, says: str) -> None:
    link = tmp_path / "itself.cu"
    link.symlink_to(target)
    verdict = verdict_of(run(link, tmp_path), 2)
    assert verdict["outcome"] == "refused"
    assert says in verdict["says"]


def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.cu")
    assert "not a regular file" in verdict_of(run("pipe.cu", tmp_path), 2)["says"]


def test_a_file_without_an_end_is_not_read_to_it(tmp_path: Path) -> None:
    path = tmp_path / "huge.cu"
    with path.open("wb") as file:
        file.write(WRONG.encode())
        file.truncate(1 << 40)  # a terabyte, none of it on disk
    began = time.monotonic()
    assert "at most 1 MB" in verdict_of(run(path, tmp_path), 2)["says"]
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    "name", ['a";} asm("x.cu', "-o.cu", "line\nbreak.cu", "\x1b[2J\x1b[31m.cu", "result.jsonl"]
)
def test_a_name_is_only_a_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(WRONG, encoding="utf-8")
    ended = run(path, tmp_path)
    assert verdict_of(ended, 1)["outcome"] == "wrong"
    assert "\x1b" not in ended.stdout + ended.stderr


def test_a_verdict_of_its_own_on_standard_output_stays_out_of_ours(tmp_path: Path) -> None:
    file = next(HERE.glob("*-prints-a-verdict.cu"))
    verdict = verdict_of(run(file, tmp_path), 1)
    assert verdict["outcome"] == "wrong"
    assert "Right in all cases" not in verdict["says"]


# --- what it turns into -------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["compiling", "the first case"])
def test_a_file_that_changes_is_judged_as_it_was_read(tmp_path: Path, when: str, wrong: Path) -> None:
    def replace(progress: Progress) -> None:
        if progress.doing == when:
            other = tmp_path / "other.cu"
            other.write_text(RIGHT, encoding="utf-8")
            other.replace(wrong)

    verdict = judge(wrong, "block-sum", lengths=LENGTHS, on_progress=replace)
    assert wrong.read_text(encoding="utf-8") == RIGHT
    assert verdict.outcome == "wrong"
    assert verdict.submission.sha256 == hashlib.sha256(WRONG.encode()).hexdigest()


def test_judging_leaves_nothing_beside_the_file(tmp_path: Path, wrong: Path) -> None:
    before = sorted(tmp_path.iterdir())
    verdict_of(run(wrong, tmp_path), 1)
    assert sorted(tmp_path.iterdir()) == before
    assert wrong.read_text(encoding="utf-8") == WRONG
