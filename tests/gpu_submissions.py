"""Small submissions of tests/fake_driver, for a real GPU: the job that they get, and what is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tilestep.contract import STEP, D
from tilestep.program import Buffer, Floats, Job

SUBMISSIONS = Path(__file__).parent / "fake_driver/submissions"
STEP_OF_ALL = STEP["rmsnorm"]
T = 3
X = np.random.default_rng(3).standard_normal((T, D), dtype=np.float32)
WEIGHT = np.random.default_rng(4).standard_normal((1, D), dtype=np.float32)
COLUMN = np.tile(np.arange(D, dtype=np.float32), (T, 1))


def job(**how: Any) -> Job:
    buffers = (Buffer("x", T, D, "in", X), Buffer("weight", 1, D, "in", WEIGHT), Buffer("y", T, D, "out"))
    return replace(Job(buffers, (T,), mode="fast", timeout=10.0, scratch_bytes=1 << 20), **how)


def after_memset() -> Floats:
    y = X.copy()
    y[0, :4] = WEIGHT[0, :4]
    return y


RIGHT: dict[str, Callable[[], Floats]] = {
    "scratch": lambda: X * np.float32(0.5) * WEIGHT,
    "memset": after_memset,
    "template": lambda: 3 * X,
    "struct": lambda: 5 * X,
    "hidden_names": lambda: 1 + COLUMN % 2,
    "table": lambda: X * 2 + COLUMN,
    "counter": lambda: np.full((T, D), 41, dtype=np.float32),
    "stale": lambda: np.ones((T, D), dtype=np.float32),
    "dynamic_shared": lambda: X[:, ::-1],
}
