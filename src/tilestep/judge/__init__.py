"""Decides whether a submission is right, and says why it is not."""
