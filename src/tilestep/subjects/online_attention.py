"""The subject of online-attention."""

from tilestep.subjects.attention import AttentionSubject

SUBJECT = AttentionSubject("online-attention")
