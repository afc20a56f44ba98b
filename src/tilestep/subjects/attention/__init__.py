"""Causal grouped-query attention: the subject of the last two steps."""

from tilestep.subjects.attention.subject import AttentionSubject

__all__ = ["AttentionSubject"]
