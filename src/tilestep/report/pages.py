"""The pages behind `tilestep explain`: one for each finding and each mistake."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Page:
    """One page in Markdown. `title` is its heading without the mark."""

    code: str
    title: str
    text: str


def codes() -> tuple[str, ...]:
    """The codes that have a page, by name."""
    folder = files("tilestep").joinpath("explain")
    if not folder.is_dir():
        return ()
    return tuple(sorted(f.name.removesuffix(".md") for f in folder.iterdir() if f.name.endswith(".md")))


def page(code: str) -> Page:
    """The page of a code. Raises KeyError if there is none."""
    if code not in codes():
        raise KeyError(code)
    text = files("tilestep").joinpath("explain", f"{code}.md").read_text(encoding="utf-8")
    heading = next((line for line in text.splitlines() if line.startswith("#")), code)
    return Page(code, heading.lstrip("# ").strip(), text)


def nearest(word: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """At most three names that the person may have meant, best first."""
    word = word.lower().replace("_", "-").replace(" ", "-")
    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    inside = [name for name in known if word and word in name and name not in close]
    return tuple([*close, *inside][:3])
