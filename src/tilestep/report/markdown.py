"""Our pages on a terminal: headings, paragraphs, lists, code that keeps its columns."""

from __future__ import annotations

import re

from rich.console import Console
from rich.text import Text

from tilestep.report.console import show_rows, show_text

CODE_INDENT = "  "
INLINE = re.compile(r"`([^`]+)`|\*\*(?=\S)([^*]+?)(?<=\S)\*\*|\*(?=\S)([^*]+?)(?<=\S)\*")
ITEM = re.compile(r"(?:[-*]|\d+\.) ")


def show_markdown(text: str, console: Console) -> None:
    """Prints a page. Code is never wrapped: it keeps its columns, whatever the width."""
    paragraph: list[str] = []
    in_code = False

    def flush() -> None:
        if paragraph:
            _show_paragraph(" ".join(paragraph), console)
            paragraph.clear()

    for line in text.splitlines():
        if line.startswith("```"):
            flush()
            in_code = not in_code
        elif in_code:
            console.print(Text(CODE_INDENT + line, style="place"), soft_wrap=True)
        elif line.startswith("#"):
            flush()
            console.print(Text(line.lstrip("# "), style="bold"))
        elif not line.strip():
            flush()
            console.print()
        else:
            if ITEM.match(line):
                flush()
            paragraph.append(line.strip())
    flush()


def _show_paragraph(words: str, console: Console) -> None:
    bullet = ITEM.match(words)
    if bullet:
        label, margin = Text(bullet.group().rstrip()), len(bullet.group())
        show_rows([(label, inline(words[bullet.end() :]))], console, margin)
    else:
        show_text(inline(words), console)


def inline(words: str) -> Text:
    """A paragraph with its code and its stressed words styled, their marks gone."""
    text = Text()
    end = 0
    for found in INLINE.finditer(words):
        text.append(words[end : found.start()])
        code, strong, stressed = found.groups()
        text.append(code or strong or stressed, style="place" if code else "bold" if strong else "italic")
        end = found.end()
    text.append(words[end:])
    return text
