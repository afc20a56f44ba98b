"""What a refused workspace is: its size, and whether it grows with T x T."""

from __future__ import annotations

from collections.abc import Callable

from tilestep import contract
from tilestep.contract import Step

LOOKED_AT = (64, 128)  # a size that is four times as large at twice the length grows with T x T


def describe(step: Step, asked: Callable[[int], int]) -> str:
    """One sentence for a seam that asks for more device memory than its step allows.

    `asked(T)` is what it asks for at a length, in bytes; it is called for two lengths.
    """
    short, long = (asked(length) for length in LOOKED_AT)
    allowed = step.scratch_bytes_per_token
    rule = f"{step.name} allows {allowed} bytes a row" if allowed else f"{step.name} allows none"
    at = f"{step.length_name} = {LOOKED_AT[1]}"
    if long == 4 * short and step.length_name == "T":
        length = contract.PROFILE_LENGTH
        size = long * (length // LOOKED_AT[1]) ** 2
        return f"the seam asks for a T x T workspace, {size / 1e6:,.0f} MB at T = {length}; {rule}"
    return f"the seam asks for a workspace of {long:,} bytes at {at}; {rule}"
