"""block-softmax: one block a row."""

from tilestep.subjects.softmax.block_mistakes import BLOCK
from tilestep.subjects.softmax.subject import Softmax

SUBJECT = Softmax("block-softmax", BLOCK)
