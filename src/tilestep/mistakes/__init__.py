"""Named mistakes of attention kernels, and how wrong values are matched with them.

Each mistake is a wrong variation of the reference, tried against what a submission returned: the one that
gives the same values to rounding names what went wrong.
"""

from tilestep.mistakes.matching import MISTAKE, MISTAKES, Match, match, match_many
from tilestep.mistakes.named import Hypothesis, Mistake
from tilestep.mistakes.observation import Observation

__all__ = ["MISTAKE", "MISTAKES", "Hypothesis", "Match", "Mistake", "Observation", "match", "match_many"]
