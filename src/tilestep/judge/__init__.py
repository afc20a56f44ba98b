"""Decides whether a submission is right, and says why it is not."""

from tilestep.judge.block import judge_block
from tilestep.judge.judge import judge
from tilestep.judge.schedule import Progress
from tilestep.judge.seams import DEFAULT_STEP, step_of
from tilestep.judge.verdict import Verdict

__all__ = ["DEFAULT_STEP", "Progress", "Verdict", "judge", "judge_block", "step_of"]
