"""Processes of our own that run Python: the worker, and NVRTC's."""

from __future__ import annotations

import os
from pathlib import Path

import tilestep


def pythonpath() -> str:
    """For a Python that is started with an environment of its own: this package, then what is inherited."""
    ours = str(Path(tilestep.__file__).parents[1])
    return os.pathsep.join([ours, *filter(None, [os.environ.get("PYTHONPATH")])])
