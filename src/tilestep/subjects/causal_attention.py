"""The subject of causal-attention."""

from tilestep.subjects.attention import AttentionSubject

SUBJECT = AttentionSubject("causal-attention")
