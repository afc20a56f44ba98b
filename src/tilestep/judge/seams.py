"""Which step a file is for, by the seam that it defines."""

from __future__ import annotations

import re
from pathlib import Path

from tilestep.contract import STEP, STEPS
from tilestep.frontends.reading import read_source
from tilestep.program import SubmissionError

DEFAULT_STEP = "online-attention"


def has_seam(text: str, step: str) -> bool:
    """Whether a file's text names the step's seam, as a definition of it does."""
    return re.search(rf"\b{STEP[step].seam.function}\s*\(", text) is not None


def step_of(file: str | Path) -> str:
    """The step whose seam a file has; the capstone for attention's seam, for none and for several."""
    try:
        text = read_source(Path(file)).text
    except SubmissionError:
        return DEFAULT_STEP
    found = [step.name for step in STEPS if step.seam is not STEP[DEFAULT_STEP].seam]
    found = [step for step in found if has_seam(text, step)]
    return found[0] if len(found) == 1 and not has_seam(text, DEFAULT_STEP) else DEFAULT_STEP
