"""Finds the named mistakes whose wrong values are those of a submission, to rounding.

For one case a hypothesis explains the output, contradicts it, or is silent: it would not have failed there. A
name must explain at least one failing case and contradict none, of those that passed either. So mistakes that
coincide in one case are told apart by the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from tilestep.contract import QUERY_TILE
from tilestep.mistakes.arithmetic import Doubles, Mask
from tilestep.mistakes.named import Hypothesis, Mistake
from tilestep.mistakes.observation import Observation
from tilestep.tolerance import UNIT

_MOST_FAILED = 8
_AGREEING_SHARE = 0.9995  # of the elements in question: less than one head of one row may differ
_SENSITIVITY = 8.0  # times what the perturbation did: it is one draw of many
_ROUNDING = 64.0  # UNITs at the scale of a group of columns


class Verdict(Enum):
    """What one hypothesis means for one case."""

    EXPLAINS = "explains"
    SILENT = "silent"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True)
class Match:
    """A mistake that explains wrong values. `score` in (0, 1] is the share of the failing cases looked at."""

    mistake: Mistake
    score: float
    label: str = ""


def match_many(observations: Sequence[Observation], mistakes: Sequence[Mistake]) -> list[Match]:
    """The mistakes that explain the failing cases and contradict no case, best first.

    A mistake that would not have failed a case says nothing about it. Only some of the failing cases are
    looked at, short ones first, and the passed ones only for what is left: the cost hardly grows with a run.
    Where every case fails and is NaN throughout, no formula is named: any early NaN looks like that.
    """
    failed = _spread([o for o in observations if o.failed])
    passed = sorted((o for o in observations if not o.failed), key=_usefulness)
    readable = bool(passed) or not all(o.blank for o in failed)
    left = [_Candidate(m, h) for m in mistakes for h in m.hypotheses or (None,) if readable or h is None]
    for observation in failed:
        left = [candidate for candidate in left if candidate.survives(observation)]
    for observation in passed:
        left = [candidate for candidate in left if candidate.explained and candidate.survives(observation)]
    best: dict[str, Match] = {}
    for candidate in left:
        if candidate.explained:
            found = Match(candidate.mistake, candidate.explained / len(failed), candidate.label)
            known = best.get(candidate.mistake.code)
            best[candidate.mistake.code] = found if known is None or known.score < found.score else known
    # Small errors everywhere fit all that is nearly right: a name only where no formula gives the values.
    named = [m for m in best.values() if not m.mistake.fallback] or list(best.values())
    most = max((m.score for m in named), default=0.0)
    return [m for m in named if m.score == most]


def _spread(observations: list[Observation]) -> list[Observation]:
    """Some of the observations, as unlike in length as there are."""
    ordered = sorted(observations, key=_usefulness)
    if len(ordered) <= _MOST_FAILED:
        return ordered
    picked = np.linspace(0, len(ordered) - 1, _MOST_FAILED).round().astype(int)
    return [ordered[i] for i in picked]


def _usefulness(observation: Observation) -> tuple[bool, int]:
    """Cheap and telling first: just past one tile most mistakes differ; in a row or two they coincide."""
    return observation.length < QUERY_TILE, observation.length


@dataclass
class _Candidate:
    """A hypothesis, or a mistake's pattern, and how many cases it has explained so far."""

    mistake: Mistake
    hypothesis: Hypothesis | None
    explained: int = 0

    @property
    def label(self) -> str:
        return self.hypothesis.label if self.hypothesis else ""

    def survives(self, observation: Observation) -> bool:
        """Look at one more case: False if it contradicts."""
        verdict = self._judge(observation)
        self.explained += verdict is Verdict.EXPLAINS
        return verdict is not Verdict.CONTRADICTS

    def _judge(self, observation: Observation) -> Verdict:
        if self.hypothesis is not None:
            return judge(self.hypothesis, observation)
        if not observation.failed or self.mistake.pattern is None:
            return Verdict.SILENT
        fits = self.mistake.pattern(observation)
        return Verdict.SILENT if fits is None else Verdict.EXPLAINS if fits else Verdict.CONTRADICTS


def judge(hypothesis: Hypothesis, seen: Observation) -> Verdict:
    """Whether a hypothesis explains what was seen in one case."""
    output = seen.output(hypothesis)
    rows = seen.rows
    predicted = seen.outside(output, seen.bound)
    in_question = (predicted | seen.wrong).any(axis=1)
    if not in_question.any():
        return Verdict.SILENT
    gross = _far_apart(output[rows], seen.want[rows], seen.bound[rows], 0.0)
    asked = in_question
    if gross and _far_apart(output[asked], seen.got[asked], seen.bound[asked], 0.1):
        return Verdict.CONTRADICTS
    slack, unsure = _rounding(hypothesis, output, seen)
    clearly = predicted & seen.outside(output, seen.bound + slack)
    if not clearly.any():
        return Verdict.SILENT
    agrees = _equal(output, seen.got, slack + seen.bound) | unsure
    share = float(np.mean(agrees[in_question]))
    return Verdict.EXPLAINS if share >= _AGREEING_SHARE and seen.failed else Verdict.CONTRADICTS


def _equal(a: Doubles, b: Doubles, slack: Doubles) -> Mask:
    """Equal to within the slack, or both not finite."""
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= slack
    return near | (~np.isfinite(a) & ~np.isfinite(b))


def _far_apart(a: Doubles, b: Doubles, bound: Doubles, share: float) -> bool:
    """Whether more than this share of the elements differ grossly: spares most hypotheses the measuring."""
    scale = np.where(np.isfinite(a), np.abs(a), 0.0).max(axis=1, keepdims=True)
    return float(np.mean(~_equal(a, b, 0.05 * scale + 1e-6 + bound))) > share


def _rounding(hypothesis: Hypothesis, output: Doubles, seen: Observation) -> tuple[Doubles, Mask]:
    """How far fp32 roundings may move the hypothesis's output, and where they decide over infinity.

    Measured, not derived: the largest change in a group of columns when the input is perturbed by a few
    roundings.
    """
    unsure = np.zeros(output.shape, dtype=bool)
    change = np.zeros(output.shape)
    for moved in seen.moved(hypothesis):
        unsure |= np.isfinite(moved) != np.isfinite(output)
        with np.errstate(invalid="ignore", over="ignore"):
            by = np.abs(moved - output)
        change = np.maximum(change, np.where(np.isfinite(by), by, 0.0))
    change = seen.largest(change)
    size = seen.largest(np.where(np.isfinite(output), np.abs(output), 0.0))
    return _SENSITIVITY * change + _ROUNDING * UNIT * size, unsure
