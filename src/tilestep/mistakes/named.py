"""What a named mistake is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tilestep.mistakes.arithmetic import TILES, Doubles, Packed

if TYPE_CHECKING:
    from tilestep.mistakes.observation import Observation

Output = Doubles | Mapping[str, Doubles]  # of the only tensor, or by name; a tensor without a name is right
Pattern = Callable[["Observation"], bool | None]


@dataclass(frozen=True)
class Hypothesis:
    """One way to make a mistake: a tile size, a constant. `label` tells it from the mistake's other ways.

    `output` computes the wrong tensors of the seam in float64 from what the step's subject gives: a Case, or
    attention's Packed.
    """

    label: str
    output: Callable[[Any], Output]


@dataclass(frozen=True)
class Mistake:
    """A wrong variation of a step under a name.

    `title` is a short clause, `says` one sentence for a verdict, `lesson` the step of the path that teaches
    it; the page explain/CODE.md tells the rest. A mistake without hypotheses is known by its `pattern`:
    whether a failing case shows it, None where the case says nothing. A `fallback` is named only where
    nothing else fits.
    """

    code: str
    title: str
    says: str
    lesson: str
    hypotheses: tuple[Hypothesis, ...] = ()
    pattern: Pattern | None = None
    fallback: bool = False


def one(output: Callable[[Any], Output]) -> tuple[Hypothesis, ...]:
    """The only way to make a mistake."""
    return (Hypothesis("", output),)


def each_tile(
    output: Callable[[Packed, int], Doubles], *, tiles: tuple[int, ...] = TILES, label: str = "tile {}"
) -> tuple[Hypothesis, ...]:
    """A mistake that depends on a tile size: one hypothesis for each."""

    def at(tile: int) -> Callable[[Packed], Doubles]:
        return lambda packed: output(packed, tile)

    return tuple(Hypothesis(label.format(tile), at(tile)) for tile in tiles)
