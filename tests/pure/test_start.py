"""Ctrl-C in the moment in which the command line is loaded: exit code 130, and not a word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tilestep

SOURCES = str(Path(tilestep.__file__).parents[1])
# Interrupts the process when a module is about to be imported.
SCRIPT = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)

{before}
sys.meta_path.insert(0, Interrupt())
from tilestep.__main__ import main
main()
"""


@pytest.mark.parametrize("name", ["tilestep.cli", "click", "numpy", "rich", "tilestep.cli.judge"])
def test_an_interrupt_while_modules_are_loaded(name: str) -> None:
    ended = run(SCRIPT.format(name=name, before=""))
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_an_interrupt_before_its_handler_is_there() -> None:
    before = "del sys.modules['signal']"
    ended = run(SCRIPT.format(name="signal", before=before))
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": SOURCES},
        capture_output=True,
        text=True,
        check=False,
    )
