"""Lint, types and import rules are tests like any other: one line runs them all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

CHECKS = {
    "lint": [sys.executable, "-m", "ruff", "check", "."],
    "format": [sys.executable, "-m", "ruff", "format", "--check", "."],
    "types": [sys.executable, "-m", "mypy"],
    "imports": [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"],
}


@pytest.mark.parametrize("name", CHECKS)
def test_the_tree_is_clean(name: str) -> None:
    ended = subprocess.run(CHECKS[name], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_no_file_has_outgrown_one_idea() -> None:
    """Python files stay near 300 lines; what is longer is split."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    long = {str(file.relative_to(ROOT)): count for file, count in lengths.items() if count > 360}
    assert not long
