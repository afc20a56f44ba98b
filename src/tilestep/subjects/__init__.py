"""The steps that can be judged: each has a subject, in a module with the step's name."""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache

from tilestep.contract import STEPS
from tilestep.subjects.protocol import Answer, Case, Subject, void

__all__ = ["Answer", "Case", "Subject", "registered", "subject", "void"]


def _module(step: str) -> str:
    return f"{__name__}.{step.replace('-', '_')}"


@cache
def registered() -> tuple[str, ...]:
    """The names of the steps that have a subject, in the order of the paths."""
    return tuple(step.name for step in STEPS if importlib.util.find_spec(_module(step.name)))


@cache
def subject(step: str) -> Subject:
    """The subject of a step by its name. Raises KeyError for a step that has none."""
    if step not in registered():
        raise KeyError(step)
    found = importlib.import_module(_module(step)).SUBJECT
    if not isinstance(found, Subject):
        raise TypeError(f"{_module(step)}.SUBJECT is no Subject")
    return found
