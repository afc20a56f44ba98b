"""The C++ header that every submission sees."""

from __future__ import annotations

from tilestep.contract.constants import KERNEL_CONSTANTS, RMS_EPS


def header() -> str:
    """The C++ header that is included before the first line of every submission."""
    constants = "\n".join(f"constexpr int {name} = {value};" for name, value in KERNEL_CONSTANTS.items())
    return (
        "// Made by tilestep from its contract. Included before every submission.\n"
        "#pragma once\n"
        f"{constants}\n"
        f"constexpr float RMS_EPS = {RMS_EPS!r}f;\n"
    )
