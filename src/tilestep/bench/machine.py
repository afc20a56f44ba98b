"""What a record must name beside its figures: the versions, and the commit."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path

import numpy as np

from tilestep import __version__

COMMIT = "TILESTEP_COMMIT"  # says the commit where git cannot


def versions() -> dict[str, str]:
    """Of Python, tilestep and the libraries that are imported here."""
    found = {"python": platform.python_version(), "tilestep": __version__, "numpy": np.__version__}
    for package in ("cuda-bindings", "cuda-core"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def card_in_a_file_name(card: str) -> str:
    """h200 of NVIDIA H200: without the maker, in small letters, without blanks."""
    return re.sub(r"[^a-z0-9]+", "-", card.lower().removeprefix("nvidia")).strip("-") or "gpu"


def commit() -> str | None:
    """The commit that is checked out here, None outside a checkout; `TILESTEP_COMMIT` goes before."""
    if said := os.environ.get(COMMIT):
        return said
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():  # installed somewhere else, maybe inside another checkout
        return None
    try:
        git = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "--short", "HEAD"],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return git.stdout.strip() or None
