"""Changes to a text that leave every line where it was."""

from __future__ import annotations

from dataclasses import dataclass, field

from tilestep.program import SubmissionError


@dataclass
class Edits:
    """Replacements and insertions, collected in any order and applied at once."""

    text: str
    file: str = ""
    _edits: list[tuple[int, int, int, str]] = field(default_factory=list)

    def insert(self, offset: int, new: str) -> None:
        """Put `new` in front of the character at `offset`; insertions at one offset keep their order."""
        self._edits.append((offset, offset, len(self._edits), new))

    def replace(self, start: int, end: int, new: str) -> None:
        """Put `new` (one line) in place of text[start:end]; the line feeds that were there stay."""
        gone = self.text[start:end]
        # In a macro's body a line feed is always preceded by a backslash, and has to stay so.
        kept = "".join(
            " \\\n" if start + at and gone[at - 1 : at] == "\\" else "\n"
            for at, c in enumerate(gone)
            if c == "\n"
        )
        self._edits.append((start, end, len(self._edits), new + kept))

    def apply(self) -> str:
        """The changed text. Raises SubmissionError where two changes claim the same characters."""
        parts: list[str] = []
        done = 0
        for start, end, _, new in sorted(self._edits):
            if start < done:
                line = self.text.count("\n", 0, start) + 1
                raise SubmissionError(
                    "tilestep cannot make sense of this line; write it as two statements",
                    file=self.file,
                    line=line,
                    outcome="broken",
                )
            parts += (self.text[done:start], new)
            done = end
        parts.append(self.text[done:])
        return "".join(parts)
