"""Writes the README's ladder from the newest benchmarks/results/ladder-*.json.

    python benchmarks/readme_table.py

Run it after `tilestep bench --save benchmarks/results`; a test holds the README to it. A ladder that does not
show everybody at every usual length is passed over, and said.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tilestep.bench.ladder import Ladder, load
from tilestep.bench.whole import gaps
from tilestep.report.ladder import UNMEASURED, markdown_note, markdown_table

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
RESULTS = ROOT / "benchmarks/results"
BEGIN, END = "<!-- ladder: benchmarks/readme_table.py writes what follows -->", "<!-- ladder ends -->"


def passed_over(folder: Path = RESULTS) -> dict[Path, tuple[str, ...]]:
    """The ladders that are not for the README, with what each lacks."""
    found = {}
    for file in sorted(folder.glob("ladder-*.json")):
        if lacks := gaps(load(file)):
            found[file] = lacks
    return found


def newest(folder: Path = RESULTS) -> tuple[Path, Ladder] | None:
    """The whole ladder with the latest date, and its file; None where there is none."""
    files = set(folder.glob("ladder-*.json")) - set(passed_over(folder))
    ladders = [(load(file), file) for file in files]
    found = max(ladders, key=lambda one: (one[0].date, one[1].name), default=None)
    return (found[1], found[0]) if found else None


def section(found: tuple[Path, Ladder] | None) -> str:
    """What stands between the markers."""
    if found is None or not found[1].rows:
        return UNMEASURED
    file, ladder = found
    return f"{markdown_table(ladder)}\n\n{markdown_note(ladder, f'benchmarks/results/{file.name}')}"


def with_section(text: str, inside: str) -> str:
    """A README's text with another section between its markers. Raises ValueError where they are missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("README.md has lost the markers of its ladder")
    return f"{before}{BEGIN}\n{inside}\n{END}{after}"


def main(folder: Path = RESULTS, readme: Path = README) -> None:
    for file, lacks in passed_over(folder).items():
        print(f"{file.name} is passed over:", *lacks, sep="\n  ", file=sys.stderr)
    text = with_section(readme.read_text(encoding="utf-8"), section(newest(folder)))
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
