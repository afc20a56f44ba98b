"""A module that the card does not load is the submission's fault; a card that is full is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from tilestep.program import LaunchPlan
from tilestep.targets.gpu.driver import Driver, DriverError
from tilestep.targets.gpu.replay import PlanError, Player


@dataclass(frozen=True)
class Refusing:
    """A driver that refuses everything, for one reason."""

    label: str

    def call(self, name: str, *arguments: Any) -> Any:
        raise DriverError(name, self.label)


def player(label: str) -> Player:
    return Player(cast(Driver, Refusing(label)), None, b"image", LaunchPlan(), {}, {}, {})


def test_a_module_that_does_not_load_is_a_plan_that_cannot_be_played() -> None:
    with pytest.raises(
        PlanError, match="does not load the GPU's code of this file: CUDA_ERROR_INVALID_IMAGE"
    ):
        player("CUDA_ERROR_INVALID_IMAGE")


def test_a_card_without_room_is_told_as_one() -> None:
    with pytest.raises(DriverError, match="OUT_OF_MEMORY"):
        player("CUDA_ERROR_OUT_OF_MEMORY")
