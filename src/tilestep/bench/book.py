"""Keeps what the measuring process tells, and makes the ladder's rows of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilestep.bench.contenders import Contender
from tilestep.bench.floor import Peaks
from tilestep.bench.ladder import FAILED, MISSING, Row
from tilestep.bench.messages import LeftOut, Message, Prepared, Timed
from tilestep.bench.rows import Right, empty_row, left_out_row, measured_row

NEVER = "the run ended before its turn"


class Book:
    """Rows by contender and length. `right` gives the float64 answer of a length.

    `highest_clock` is the card's, in MHz, 0 where it is not known.
    """

    def __init__(
        self,
        contenders: Sequence[Contender],
        peaks: Peaks,
        right: Callable[[int], Right],
        highest_clock: int = 0,
    ) -> None:
        self._contenders = {one.name: one for one in contenders}
        self._peaks = peaks
        self._right = right
        self._highest_clock = highest_clock
        self._prepared: dict[tuple[str, int], Prepared] = {}
        self._rows: dict[tuple[str, int], Row] = {}

    def hear(self, message: Message) -> None:
        """Takes note of one message."""
        if isinstance(message, Prepared):
            self._prepared[message.name, message.length] = message
        elif isinstance(message, LeftOut):
            row = left_out_row(self._contenders[message.name], message, self._peaks)
            self._rows[message.name, message.length] = row
        elif isinstance(message, Timed):
            for name in message.samples:
                key = name, message.length
                self._rows[key] = measured_row(
                    self._contenders[name],
                    self._prepared.pop(key),
                    self._right(message.length),
                    message,
                    self._peaks,
                    self._highest_clock,
                )

    def rows(self) -> tuple[Row, ...]:
        """The rows so far: length by length, contenders in their order."""
        lengths = sorted({length for _, length in self._rows})
        return tuple(
            self._rows[name, length]
            for length in lengths
            for name in self._contenders
            if (name, length) in self._rows
        )

    def close(self, lengths: Sequence[int]) -> None:
        """A row for everybody of whom nothing was told at one of these lengths."""
        for length in lengths:
            for name, contender in self._contenders.items():
                if (name, length) not in self._rows:
                    self._rows[name, length] = empty_row(contender, length, self._peaks, FAILED, NEVER)

    def absent(self) -> tuple[str, ...]:
        """What is not installed and how to get it, each said once, with those whom it keeps out."""
        names: dict[str, list[str]] = {}
        for (name, _), row in self._rows.items():
            if row.outcome == MISSING and name not in names.setdefault(row.reason, []):
                names[row.reason].append(name)
        return tuple(f"{reason} ({', '.join(kept_out)})" for reason, kept_out in names.items())
