"""rope: every head of Q and K turned in place, V left alone."""

from __future__ import annotations

from tilestep.subjects.rotation.subject import Rotation

SUBJECT = Rotation()
