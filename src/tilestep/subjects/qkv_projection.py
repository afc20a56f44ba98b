"""qkv-projection: Q, K and V of every token in one product."""

from __future__ import annotations

from tilestep.subjects.projection.subject import Projection

SUBJECT = Projection()
