"""What a refused workspace is: its size, and whether it grows with T x T."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tilestep import contract
from tilestep.contract import Step

LOOKED_AT = (64, 128)  # a size that is four times as large at twice the length grows with T x T
_FLOAT_BYTES = 4


def describe(step: Step, asked: Callable[[int], int], refused: tuple[int, int]) -> str:
    """One sentence for a seam that asks for more device memory than its step allows.

    `asked(T)` is what it asks for at a length, in bytes; it is called for two lengths. `refused` is the
    length where it was too much, and how much that was.
    """
    short, long = (asked(length) for length in LOOKED_AT)
    if short and long == 4 * short and step.length_name == "T":
        length = contract.PROFILE_LENGTH
        size = long * (length // LOOKED_AT[1]) ** 2
        return f"the seam asks for a T x T workspace, {size / 1e6:,.0f} MB at T = {length}; {_rule(step)}"
    length, size = refused
    return f"the seam asks for a workspace of {size:,} bytes at {step.length_name} = {length}; {_rule(step)}"


def too_large(step: Step, variables: Mapping[str, int], longest: int) -> str | None:
    """One sentence where the variables of a module hold more than a step's workspace, else None.

    They have one size for every length, so it is held against what the `longest` one allows, beside what a
    counter or a table may take at any step.
    """
    total = sum(variables.values())
    allowed = contract.FREE_VARIABLE_BYTES + step.scratch_bytes_per_token * longest
    if total <= allowed:
        return None
    largest = max(variables, key=lambda name: variables[name])
    size = variables[largest]
    square = _FLOAT_BYTES * longest**2
    what = " a T x T workspace," if step.length_name == "T" and size % square == 0 else ""
    others = f"; all its variables hold {total:,}" if len(variables) > 1 else ""
    rule = f"{_rule(step)} and {contract.FREE_VARIABLE_BYTES:,} in variables"
    return f"the array {largest} is{what} {size:,} bytes{others}; {rule}"


def _rule(step: Step) -> str:
    allowed = step.scratch_bytes_per_token
    return f"{step.name} allows {allowed} bytes a row" if allowed else f"{step.name} allows none"
