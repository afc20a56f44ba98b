"""The named mistakes of attention kernels."""

from __future__ import annotations

from tilestep.mistakes import layout, masks, patterns, rescaling, softmax
from tilestep.mistakes.named import Mistake
from tilestep.tolerance import SUM, SUM_PER_ROOT_KEY, UNIT

# Most specific first: where several explain the same cases equally well, this is the order of the names.
MISTAKES: tuple[Mistake, ...] = (
    patterns.not_written("causal-attention"),
    patterns.zeros("causal-attention"),
    *masks.MISTAKES,
    *softmax.MISTAKES,
    *rescaling.MISTAKES,
    *layout.MISTAKES,
    # The tightest bound is that of a row with one key.
    patterns.low_precision("online-attention", UNIT * (SUM + SUM_PER_ROOT_KEY)),
)
MISTAKE: dict[str, Mistake] = {mistake.code: mistake for mistake in MISTAKES}
