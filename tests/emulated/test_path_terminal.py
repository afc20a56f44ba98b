"""The path as a person meets it: a real terminal, a file that is saved, keys, and the terminal given back."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import tilestep
from tilestep.path import catalogue, workspace
from tilestep.path.workspace import Workspace

# The smallest stage: what is tested here is the terminal, not the step.
STAGE = catalogue.stages()[0]
NEXT = catalogue.stages()[1]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PATIENCE = 240.0  # seconds: a first build with a slow compiler is in it
SOURCES = str(Path(tilestep.__file__).parents[1])  # a relative PYTHONPATH means nothing in another folder
ENVIRONMENT = {**os.environ, "PYTHONPATH": SOURCES, "COLUMNS": "80", "TERM": "xterm", "NO_COLOR": "1"}


class Person:
    """Somebody at a terminal that runs `tilestep` in a workspace."""

    def __init__(self, folder: Path) -> None:
        self.handle, child = pty.openpty()
        self.before = termios.tcgetattr(child)
        self._child = child
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tilestep"],
            cwd=folder,
            env=ENVIRONMENT,
            stdin=child,
            stdout=child,
            stderr=child,
            start_new_session=True,
        )
        self.seen = ""

    def wait_for(self, words: str) -> None:
        """Reads until the words have come on the screen, whatever way they are wrapped."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.seen:
            assert time.monotonic() < deadline, self.seen
            ready, _, _ = select.select([self.handle], [], [], 0.2)
            assert ready or self.process.poll() is None, self.seen
            if ready:
                self.seen += ESCAPES.sub("", os.read(self.handle, 65536).decode("utf-8", "replace"))
                self.seen = re.sub(r"\s+", " ", self.seen)
        self.seen = self.seen.partition(words)[2]

    def press(self, key: str) -> None:
        os.write(self.handle, key.encode())

    def ends(self) -> int:
        """Reads on until the process has ended: its exit code."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.seen
            ready, _, _ = select.select([self.handle], [], [], 0.1)
            if ready:
                self.seen += os.read(self.handle, 65536).decode("utf-8", "replace")
        return self.process.returncode

    @property
    def settings(self) -> list[object]:
        return termios.tcgetattr(self._child)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.handle)
        os.close(self._child)


@pytest.fixture
def made(tmp_path: Path) -> Workspace:
    workspace.create(tmp_path / "path")
    return Workspace(tmp_path / "path")


@pytest.fixture
def person(made: Workspace) -> Iterator[Person]:
    somebody = Person(made.root)
    yield somebody
    somebody.close()


def test_from_the_starter_to_the_next_stage(made: Workspace, person: Person) -> None:
    person.wait_for("edit")
    person.wait_for(STAGE.starter.upper())
    person.wait_for("q quit")
    assert person.settings != person.before, "keys are read without Enter"

    person.press("h")
    person.wait_for("hint 1/")
    person.press("l")
    person.wait_for(STAGE.lesson_text().splitlines()[0].removeprefix("# "))
    person.press("n")
    person.wait_for(f"{STAGE.step} is not passed yet")

    made.file(STAGE).write_text(STAGE.solution_text(), encoding="utf-8")
    person.wait_for(f"Stage {STAGE.number} is passed.")
    person.wait_for("n next")
    assert made.solution(STAGE).read_text(encoding="utf-8") == STAGE.solution_text()

    person.press("n")
    person.wait_for(NEXT.title)
    person.press("q")
    assert person.ends() == 0
    assert person.settings == person.before
    document = json.loads(made.progress.path.read_text(encoding="utf-8"))
    assert document["current"] == NEXT.step
    assert document["stages"][STAGE.step]["passed"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_gives_the_terminal_back(person: Person, number: signal.Signals) -> None:
    person.wait_for("edit")
    while person.settings == person.before:
        time.sleep(0.01)
    if number == signal.SIGINT:
        os.killpg(person.process.pid, number)
    else:
        person.process.send_signal(number)
    assert person.ends() == 128 + number
    assert "Traceback" not in person.seen
    assert person.settings == person.before


def test_a_crash_gives_the_terminal_back(made: Workspace) -> None:
    """An error of ours, in the middle of a session."""
    script = (
        "import sys\n"
        "from tilestep.cli import main, opening\n"
        "def broken(*_): raise RuntimeError('the abacus broke')\n"
        "opening.Session = broken\n"
        "main()\n"
    )
    handle, child = pty.openpty()
    before = termios.tcgetattr(child)
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=made.root,
        env=ENVIRONMENT,
        stdin=child,
        stdout=child,
        stderr=child,
    )
    assert process.wait(timeout=PATIENCE) == 3
    said = os.read(handle, 65536).decode()
    assert "the abacus broke" in said
    Path(said.split()[-1]).unlink()
    assert termios.tcgetattr(child) == before
    os.close(handle)
    os.close(child)


def test_what_the_readme_says_leads_to_the_first_passed_stage(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    lines = readme.partition("## The path")[2].partition("```bash\n")[2].partition("```")[0].splitlines()
    begin = "\n".join(line for line in lines if line.startswith("tilestep"))
    shell = f'tilestep() {{ "{sys.executable}" -m tilestep "$@"; }}\n'

    def follow(typed: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", shell + typed],  # noqa: S607
            cwd=tmp_path,
            env={**ENVIRONMENT, "HOME": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    first = follow(begin)
    assert first.returncode == 1, first.stderr
    assert STAGE.starter.upper() in first.stdout
    (file,) = tmp_path.rglob(STAGE.file)
    file.write_text(STAGE.solution_text(), encoding="utf-8")
    second = follow(begin)
    assert second.returncode == 0, second.stderr
    assert f"Stage {STAGE.number} is passed." in second.stdout
