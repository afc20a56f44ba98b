"""Named mistakes, and how wrong values are matched with them.

Each mistake is a wrong variation of the reference, tried against what a submission returned: the one that
gives the same values to rounding names what went wrong. The catalogue of attention is in `attention`; the
other steps keep theirs beside their subjects.
"""

from tilestep.mistakes.matching import Match, match_many
from tilestep.mistakes.named import Hypothesis, Mistake, Output, one
from tilestep.mistakes.observation import Observation

__all__ = ["Hypothesis", "Match", "Mistake", "Observation", "Output", "match_many", "one"]
