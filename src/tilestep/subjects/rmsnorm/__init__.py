"""rmsnorm: each row over its root mean square, times a weight a column."""

from tilestep.subjects.rmsnorm.subject import RmsNorm

__all__ = ["SUBJECT", "RmsNorm"]

SUBJECT = RmsNorm()
