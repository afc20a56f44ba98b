"""README, docs and lessons name only commands, options and files that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from tilestep.cli import cli
from tilestep.report.pages import codes

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES += sorted((ROOT / "src/tilestep/path/lessons").rglob("*.md"))
PAGES = [page for page in PAGES if page.is_file()]
MOST_COMMANDS = 5  # from clone to the first passed stage, the clone among them

FENCED = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PLACEHOLDER = re.compile(r"^[A-Z]+$|^<.*>$|^\.\.\.$")


def commands(text: str) -> list[str]:
    """Every `tilestep ...` of a page's code, inline or fenced; a trailing comment is not part of it."""
    lines = [line for block in FENCED.findall(text) for line in block.splitlines()]
    lines += INLINE.findall(FENCED.sub("", text))
    found = []
    for line in lines:
        for part in re.split(r"&&|;|\|", line.split(" #")[0]):
            words = part.removeprefix("$").split()
            while words and (words[0] in {"python", "-m"} or words[0].endswith("/python")):
                words = words[1:]
            if words and words[0].rpartition("/")[2] == "tilestep":
                found.append(" ".join(["tilestep", *words[1:]]))
    return found


def check(line: str) -> None:
    """Raises if the line is not one that the command line would accept."""
    words = [word for word in shlex.split(line)[1:] if word not in {"\\"}]
    if not words or words[0] in {"--version", "--help", "-h"}:
        return
    if words[0].startswith("--"):
        assert words[0] in {option for parameter in cli.params for option in parameter.opts}, line
        return
    command = cli.get_command(click.Context(cli), words[0])
    assert command is not None, f"{line!r}: there is no command {words[0]!r}"
    if isinstance(command, click.Group) and len(words) > 1 and not words[1].startswith("-"):
        words = words[1:]
        command = command.get_command(click.Context(command), words[0])
        assert command is not None, f"{line!r}: there is no command {words[0]!r}"
    known = {option for parameter in command.params for option in parameter.opts}
    for word in words[1:]:
        if word.startswith("--"):
            assert word.split("=")[0] in known | {"--help"}, f"{line!r}: no option {word}"
    if words[0] == "explain" and len(words) > 1 and not words[1].startswith("-"):
        assert PLACEHOLDER.match(words[1]) or words[1] in codes(), f"{line!r}: no page {words[1]}"


def test_the_pattern_finds_commands() -> None:
    text = (
        "Run `tilestep judge FILE --json`, then `tilestep`.\n"
        "```\ntilestep doctor   # what is there\npip install . && .venv/bin/tilestep list\n```\n"
        "tilestep judges kernels\n"
    )
    assert commands(text) == ["tilestep doctor", "tilestep list", "tilestep judge FILE --json", "tilestep"]
    with pytest.raises(AssertionError, match="no option"):
        check("tilestep judge FILE --jsn")
    with pytest.raises(AssertionError, match="no command"):
        check("tilestep jugde FILE")


def test_the_path_begins_with_few_commands() -> None:
    """A line is a command: what `&&` joins is typed at once."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("## The path")[2]
    lines = FENCED.findall(text)[0].splitlines()
    assert 1 + len(lines) <= MOST_COMMANDS
    assert "tilestep init" in lines[-2]
    assert lines[-1] == "tilestep"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page: Path) -> None:
    for line in commands(page.read_text(encoding="utf-8")):
        check(line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_exist(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
