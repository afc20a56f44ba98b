"""A module that the card does not load is the submission's fault, told in one sentence."""

from __future__ import annotations

from typing import Any, cast

import pytest

from tilestep.program import LaunchPlan
from tilestep.targets.gpu.driver import Driver, DriverError
from tilestep.targets.gpu.replay import PlanError, Player


class FullCard:
    """A driver whose card has no room for a module."""

    def call(self, name: str, *arguments: Any) -> Any:
        raise DriverError(name, "CUDA_ERROR_OUT_OF_MEMORY")


def test_a_module_that_does_not_load_is_a_plan_that_cannot_be_played() -> None:
    with pytest.raises(
        PlanError, match="does not load the GPU's code of this file: CUDA_ERROR_OUT_OF_MEMORY"
    ):
        Player(cast(Driver, FullCard()), None, b"image", LaunchPlan(), {}, {}, {})
