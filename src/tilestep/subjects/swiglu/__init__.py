"""swiglu: two projections of the same row, one of them through silu, multiplied."""

from tilestep.subjects.swiglu.subject import SwiGlu

__all__ = ["SUBJECT", "SwiGlu"]

SUBJECT = SwiGlu()
