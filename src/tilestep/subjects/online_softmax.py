"""online-softmax: maximum and denominator in one pass."""

from tilestep.subjects.softmax.online_mistakes import ONLINE
from tilestep.subjects.softmax.subject import Softmax

SUBJECT = Softmax("online-softmax", ONLINE)
