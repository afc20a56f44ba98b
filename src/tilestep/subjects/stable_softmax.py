"""stable-softmax: one thread a row, three passes."""

from tilestep.subjects.softmax.row_mistakes import STABLE
from tilestep.subjects.softmax.subject import Softmax

SUBJECT = Softmax("stable-softmax", STABLE, many_rows=True)
