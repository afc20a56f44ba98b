"""Every number in the lessons of stages 4 to 6 is computed here, or is what the subject feeds."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from tilestep import reference
from tilestep.contract import STEP
from tilestep.subjects import subject
from tilestep.subjects.softmax import inputs

LESSONS = {
    step: f"{STEP[step].number:02d}-{step}" for step in ("stable-softmax", "block-softmax", "online-softmax")
}


def lesson(step: str) -> str:
    """The lesson's text with single spaces."""
    text = (
        files("tilestep").joinpath("path", "lessons", LESSONS[step], "lesson.md").read_text(encoding="utf-8")
    )
    return " ".join(text.split())


@pytest.mark.parametrize("step", LESSONS)
def test_the_seam_is_the_contracts(step: str) -> None:
    assert f"{STEP[step].seam.prototype};" in lesson(step)


def test_the_stable_lessons_table_is_computed() -> None:
    text = lesson("stable-softmax")
    low = np.array([[1.0, 2.0, 3.0]])
    high = low + 100.0
    with np.errstate(over="ignore"):
        assert np.isinf(np.exp(high.astype(np.float32))).all()
        assert np.isinf(np.exp(np.float32(88.8)))
    assert np.isfinite(np.exp(np.float32(88.7)))
    assert "passes that at 88.7" in text
    assert f"{float(np.finfo(np.float32).max):.1e}".replace("+", "") in text
    bare = " ".join(f"{value:.1f}" for value in np.exp(low[0]))
    assert f"exp(x) {bare} | inf inf inf" in text
    for x in (low, high):
        np.testing.assert_allclose(reference.softmax(x), reference.softmax(low))
    y = " ".join(f"{value:.3f}" for value in reference.softmax(low)[0])
    assert f"y {y} | nan nan nan" in text
    assert f"y {y} | {y}" in text
    weights = np.exp(low - low.max())
    shown = " ".join(f"{value:.3f}" for value in weights[0][:2])
    assert f"exp(x - m) {shown} 1 | {shown} 1 sum {weights.sum():.3f}" in text


def test_the_stable_lessons_hazards_are_fed() -> None:
    text = lesson("stable-softmax")
    levels = [f"{level:g}" for level in inputs.LARGE_LEVELS]
    assert f"maximum is {', '.join(levels[:-1])} or {levels[-1]}." in text
    assert "rows near -1000 or -150" in text
    assert set(inputs.NEGATIVE_LEVELS) >= {-1000.0, -150.0}
    assert f"may stand {inputs.PEAK:g} above the others" in text
    rows = subject("stable-softmax").make(2, "normal", 0).sizes["rows"]
    assert f"two columns come in {rows} rows" in text


def test_the_block_lessons_hazards_are_fed() -> None:
    text = lesson("block-softmax")
    assert f"{max(subject('block-softmax').lengths)} columns are more than any block has" in text
    assert "when m is -1000" in text
    assert -1000.0 in inputs.NEGATIVE_LEVELS


def test_the_online_lessons_table_is_computed() -> None:
    text = lesson("online-softmax")
    alpha = np.exp(1.0 - 3.0)
    second = alpha * 1.0 + 1.0
    third = second + np.exp(2.0 - 3.0)
    assert f"3 3 {alpha:.3f} {alpha:.3f} * 1 + 1 = {second:.3f}" in text
    assert f"2 3 1 {second:.3f} + {np.exp(-1.0):.3f} = {third:.3f}" in text
    assert f"Leave alpha out and l is {1.0 + 1.0 + np.exp(-1.0):.3f}" in text


def test_the_online_lessons_hazards_are_fed() -> None:
    text = lesson("online-softmax")
    up = [f"{climb:g}" for climb in inputs.CLIMBS if climb > 0.0]
    assert f"climb along the row, by {', '.join(up[:-1])} or {up[-1]}" in text
    assert f"the last one stands {inputs.PEAK:g} above the rest" in text
