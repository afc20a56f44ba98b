"""What a named mistake is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from tilestep.mistakes.arithmetic import TILES, Doubles, Packed


@dataclass(frozen=True)
class Hypothesis:
    """One way to make a mistake: a tile size, a constant. `label` tells it from the mistake's other ways."""

    label: str
    output: Callable[[Packed], Doubles]  # the wrong attention output [T, D]


@dataclass(frozen=True)
class Mistake:
    """A wrong variation of attention under a name.

    `title` is a short clause, `says` one sentence for a verdict, `lesson` the step of the path that teaches
    it; the page explain/CODE.md tells the rest. A mistake without hypotheses is known by a pattern.
    """

    code: str
    title: str
    says: str
    lesson: str
    hypotheses: tuple[Hypothesis, ...] = ()

    def wrong(self, qkv: ArrayLike) -> dict[str, Doubles]:
        """The wrong outputs [T, D] for a packed tensor, by hypothesis."""
        packed = Packed(qkv)
        return {hypothesis.label: hypothesis.output(packed) for hypothesis in self.hypotheses}


def one(output: Callable[[Packed], Doubles]) -> tuple[Hypothesis, ...]:
    """The only way to make a mistake."""
    return (Hypothesis("", output),)


def each_tile(
    output: Callable[[Packed, int], Doubles], *, tiles: tuple[int, ...] = TILES, label: str = "tile {}"
) -> tuple[Hypothesis, ...]:
    """A mistake that depends on a tile size: one hypothesis for each."""

    def at(tile: int) -> Callable[[Packed], Doubles]:
        return lambda packed: output(packed, tile)

    return tuple(Hypothesis(label.format(tile), at(tile)) for tile in tiles)
