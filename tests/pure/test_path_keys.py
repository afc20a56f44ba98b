"""Keys from a terminal, with the test at its other end."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Iterator

import pytest

from tilestep.path.keys import reading


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """The person's end and the program's end of a terminal."""
    person, program = pty.openpty()
    yield person, program
    for handle in (person, program):
        try:
            os.close(handle)
        except OSError:
            continue  # a test has closed it


def test_keys_come_one_at_a_time_without_enter(ends: tuple[int, int]) -> None:
    person, program = ends
    with reading(program) as keys:
        assert keys.read(0.0) == ""
        os.write(person, b"hQ")
        assert [keys.read(1.0), keys.read(1.0), keys.read(0.0)] == ["h", "q", ""]


def test_keys_that_nobody_waited_for_are_forgotten(ends: tuple[int, int]) -> None:
    person, program = ends
    with reading(program) as keys:
        os.write(person, b"hhh")
        assert keys.read(1.0) == "h"
        keys.forget()
        assert keys.read(0.0) == ""


def test_the_settings_come_back_after_an_error(ends: tuple[int, int]) -> None:
    _, program = ends
    before = termios.tcgetattr(program)

    def interrupted() -> None:
        with reading(program):
            assert termios.tcgetattr(program) != before
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert termios.tcgetattr(program) == before


def test_a_terminal_that_was_closed_has_no_more_keys(ends: tuple[int, int]) -> None:
    person, program = ends
    with reading(program) as keys:
        os.close(person)
        with pytest.raises(EOFError):
            keys.read(1.0)
