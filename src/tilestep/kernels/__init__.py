"""The kernels: one folder a step, one idea a file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

BETWEEN = "block"  # the folder of what stands between the steps of the block


def root() -> Path:
    """The folder that holds the steps' folders."""
    return Path(str(files(__name__)))


def path(name: str) -> Path:
    """The file of a kernel by name, such as "attention/02_cooperative.cu"; KeyError for an unknown one."""
    if name not in _every():
        raise KeyError(name)
    return root() / name


def names() -> tuple[str, ...]:
    """The kernels of the steps, in the order of their rungs. What stands between the steps has none."""
    return tuple(name for name in _every() if not name.startswith(f"{BETWEEN}/"))


def _every() -> tuple[str, ...]:
    return tuple(sorted(file.relative_to(root()).as_posix() for file in root().glob("*/*.cu")))


def idea(name: str) -> str:
    """The first sentence of the comment that a kernel's file opens with: the one idea that it shows."""
    comment = []
    for line in path(name).read_text(encoding="utf-8").splitlines():
        if not line.startswith("//"):
            break
        comment.append(line.removeprefix("//").strip())
    sentence, dot, _ = " ".join(comment).partition(". ")
    return sentence + "." if dot else sentence
