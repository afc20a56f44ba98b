"""The CUDA driver, with every return code looked at. Only the worker imports it, and only when it runs."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any


class DriverError(Exception):
    """A call of the driver that failed. `label` is the error's name, as CUDA_ERROR_ILLEGAL_ADDRESS."""

    def __init__(self, call: str, label: str) -> None:
        super().__init__(f"{call}: {label}")
        self.call = call
        self.label = label


class Driver:
    """cuda.bindings.driver. `api` is the module itself, for enumerations and for calls that must be quick."""

    def __init__(self) -> None:
        self.api: Any = importlib.import_module("cuda.bindings.driver")

    def call(self, name: str, *arguments: Any) -> Any:
        """What a call returns besides its code: nothing, one value or a tuple. Raises DriverError."""
        error, *values = getattr(self.api, name)(*arguments)
        if int(error) != 0:
            raise DriverError(name, label_of(error))
        return None if not values else values[0] if len(values) == 1 else tuple(values)

    def tried(self, name: str, *arguments: Any) -> bool:
        """Makes a call that not every card knows, and says whether it succeeded."""
        return int(getattr(self.api, name)(*arguments)[0]) == 0


def label_of(error: Any) -> str:
    """The name of a return code; a newer driver may give codes that the bindings do not know."""
    return str(getattr(error, "name", f"CUDA error {int(error)}"))


def first_failure(results: Sequence[Any]) -> tuple[int, str] | None:
    """The index and name of the first code that is not success."""
    for index, error in enumerate(results):
        if int(error) != 0:
            return index, label_of(error)
    return None
