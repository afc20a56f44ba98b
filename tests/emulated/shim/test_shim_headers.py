"""The headers get along: with each other, and with the C++ library, in both builds."""

from __future__ import annotations

from pathlib import Path

from tilestep.contract import STEP
from tilestep.frontends.cuda import load
from tilestep.targets.cpu import CpuTarget


def test_every_allowed_header_compiles_behind_the_shim() -> None:
    program = load(Path(__file__).parent / "everything.cu", STEP["causal-attention"])
    built = CpuTarget().build(program)
    assert built.fast.exists()
    assert built.checked.exists()
