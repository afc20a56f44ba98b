"""Instruments for looking at a kernel: what it left in shared memory, where it is wrong, what it launches."""
