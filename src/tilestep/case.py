"""One input of a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Given(Protocol):
    """What hypotheses are computed from."""

    def perturbed(self, relative: float, draw: int = 0) -> Self:
        """The same with every input off by this relative amount, up or down: what rounding may do.

        Another draw has other signs.
        """


@dataclass(frozen=True)
class Case:
    """One input of a step: what the seam is fed, and which rows of its outputs count.

    `length` is the number of tokens, or of columns. `sizes` maps the seam's int parameters to their values.
    `inputs` maps tensor names (`Parameter.fed` of the seam's in and inout parameters) to float32 arrays
    [rows, width]; a weight of one row is [1, width]. `judged_rows` is a bool for each row of the outputs.
    `context` holds what the rest of the block needs, by tensor name: x, the weights.
    """

    step: str
    length: int
    family: str
    seed: int
    sizes: Mapping[str, int]
    inputs: Mapping[str, Array]
    judged_rows: NDArray[np.bool_] = field(repr=False)
    context: Mapping[str, Array] = field(default_factory=dict, repr=False)

    def __getitem__(self, tensor: str) -> NDArray[np.float64]:
        """An input in float64, by the name of its tensor."""
        return np.asarray(self.inputs[tensor], dtype=np.float64)

    def perturbed(self, relative: float, draw: int = 0) -> Case:
        """The same with every element of the inputs off by this relative amount, in float64."""
        rng = np.random.default_rng([self.length, draw])
        inputs = {
            name: np.asarray(array, dtype=np.float64)
            * (1.0 + rng.choice((-relative, relative), size=array.shape))
            for name, array in self.inputs.items()
        }
        return replace(self, inputs=inputs)
