"""From what was measured to rows: errors against float64, times against the floor."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilestep import reference, tolerance
from tilestep.bench.contenders import RUNG, Contender
from tilestep.bench.floor import Peaks, attention_flops, floor
from tilestep.bench.ladder import FAILED, MEASURED, WRONG, Row
from tilestep.bench.messages import LeftOut, Prepared, Timed
from tilestep.judge.speed import FULL_CLOCK
from tilestep.program import Floats

Doubles = NDArray[np.float64]

# |out - ref| / |ref| beyond which a peer computes something else. bf16 was seen to cost 3e-3. A rung of ours
# has to meet the judge's own tolerance, element by element; a peer's figures say how exact it is.
PEER_ERROR = 2e-2


@dataclass(frozen=True)
class Right:
    """The float64 answer [T, D] to a packed tensor, and how far each element may be off in fp32."""

    want: Doubles
    tolerance: Doubles

    @staticmethod
    def of(packed: Floats) -> Right:
        want = reference.attention(packed)
        return Right(want, tolerance.attention(packed, want))

    def errors(self, output: Floats) -> tuple[float, float]:
        """|out - ref| / |ref|, and the largest error over its tolerance. NaN for an output that holds one."""
        off = np.abs(output.astype(np.float64) - self.want)
        norm = float(np.linalg.norm(off) / np.linalg.norm(self.want))
        return norm, float(np.max(off / self.tolerance))


def empty_row(contender: Contender, length: int, peaks: Peaks, outcome: str, reason: str = "") -> Row:
    """A row without figures, but with the floor."""
    least = floor(length, contender.precision, peaks)
    return Row(
        name=contender.name,
        title=contender.title,
        kind=contender.kind,
        precision=contender.precision,
        length=length,
        outcome=outcome,
        reason=reason,
        floor_ms=least.ms,
        bound=least.bound,
    )


def left_out_row(contender: Contender, told: LeftOut, peaks: Peaks) -> Row:
    return empty_row(contender, told.length, peaks, told.outcome, told.reason)


def measured_row(
    contender: Contender,
    prepared: Prepared,
    right: Right,
    timed: Timed,
    peaks: Peaks,
    highest_clock: int,
) -> Row:
    """A row with its figures; without times where the output is wrong."""
    if prepared.output.shape != right.want.shape:
        shape = " x ".join(map(str, prepared.output.shape))
        return empty_row(contender, prepared.length, peaks, FAILED, f"its output is {shape}")
    error, over = right.errors(prepared.output)
    figures: dict[str, Any] = {
        "error": error if np.isfinite(error) else None,
        "over_tolerance": over if np.isfinite(over) else None,
        "how": prepared.how,
    }
    if wrong := _why_wrong(contender, error, over):
        plain = empty_row(contender, prepared.length, peaks, WRONG, wrong)
    else:
        plain = empty_row(contender, prepared.length, peaks, MEASURED)
        figures |= _times(timed, contender.name, plain.floor_ms) | _clock(timed, highest_clock)
    return Row(**{**vars(plain), **figures})


def _why_wrong(contender: Contender, error: float, over: float) -> str:
    """A sentence for an output that is not attention, "" for a right one."""
    if np.isnan(error):
        return "the output holds a NaN"
    if contender.kind == RUNG and not over <= 1.0:
        return f"an element is {over:.3g} tolerances off"
    if not error <= PEER_ERROR:
        return f"the output is {error:.2g} of its norm off"
    return ""


def _times(timed: Timed, name: str, floor_ms: float) -> dict[str, Any]:
    """Figures from one sample a round."""
    samples = timed.samples[name]
    median = statistics.median(samples)
    low, _, high = statistics.quantiles(samples, n=4) if len(samples) > 1 else (median,) * 3
    return {
        "median_ms": median,
        "low_ms": low,
        "high_ms": high,
        "rounds": len(samples),
        "replays": timed.replays[name],
        "tflops": attention_flops(timed.length) / (median * 1e-3) / 1e12,
        "of_floor": floor_ms / median if floor_ms else None,
        "overhead_ms": timed.overhead_ms,
        "late": timed.late.get(name, 0),
    }


def _clock(timed: Timed, highest_clock: int) -> dict[str, Any]:
    """What the rounds say of the clock. A reason at nearly the highest clock has lowered nothing."""
    full = FULL_CLOCK * highest_clock
    reasons = [
        why for clock, why in zip(timed.clocks, timed.lowered, strict=True) if why and not 0 < full <= clock
    ]
    return {
        "clock": min((clock for clock in timed.clocks if clock), default=0),
        "lowered": ", ".join(dict.fromkeys(part for why in reasons for part in why.split(", "))),
        "lowered_rounds": len(reasons),
    }
