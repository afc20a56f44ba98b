"""What the doctor says of this machine, and of one that lacks something."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tilestep.emulator import compilers
from tilestep.emulator.compilers import MEND
from tilestep.targets import doctor
from tilestep.targets.cpu import CpuTarget
from tilestep.targets.doctor import Check, examine
from tilestep.targets.protocol import Card


def found(name: str) -> Check:
    return next(check for check in examine() if check.name == name)


def test_this_machine_is_well() -> None:
    checks = examine()
    assert [check.name for check in checks] == [
        "python",
        "compiler",
        "cache",
        "emulator",
        "sandbox",
        "gpu",
        "nvcc",
    ]
    needed = [check for check in checks if check.name not in ("gpu", "nvcc")]
    assert all(check.ok for check in needed), needed
    assert all(check.says for check in checks)


def test_no_compiler_comes_with_its_mending_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TILESTEP_CXX", raising=False)
    monkeypatch.setitem(sys.modules, "ziglang", None)
    compilers._find.cache_clear()
    check = found("compiler")
    assert (check.ok, check.mend) == (False, MEND)
    assert "emulator" not in [check.name for check in examine()]
    compilers._find.cache_clear()


def test_a_compiler_that_is_none_is_the_choices_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILESTEP_CXX", "/nowhere/at/all")
    check = found("compiler")
    assert (check.ok, check.mend) == (False, "unset TILESTEP_CXX")


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("TILESTEP_CACHE", str(tmp_path / "file"))
    check = found("cache")
    assert not check.ok
    assert "cannot be written" in check.says
    assert "TILESTEP_CACHE" in check.mend


def test_an_nvcc_that_fails_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvcc"
    tool.write_text("#!/bin/sh\necho 'no licence' >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    check = found("nvcc")
    assert not check.ok
    assert "no licence" in check.says or "it says nothing" in check.says


class Card90(CpuTarget):
    """The emulator in the place of a card: it plays the same kernel, and has the facts of a card."""

    kind = "gpu"
    missing: str | None = None
    card = Card("a card", "580", (9, 0), 2**37, 132, 0, 0.0, 1980, "a compiler 1.0", others=2)

    @property
    def name(self) -> str:
        return "a card, driver 580"

    def available(self) -> str | None:
        return self.missing

    def close(self) -> None:
        """There is no worker."""


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> type[Card90]:
    monkeypatch.setattr(doctor, "_has_gpu", lambda: True)
    monkeypatch.setattr(doctor, "GpuTarget", Card90)
    return Card90


def test_a_kernel_runs_on_the_gpu_that_is_there(card: type[Card90]) -> None:
    check = found("gpu-target")
    assert check.ok
    assert check.says.startswith("a small kernel compiles (a compiler 1.0) and runs on a card, driver 580")
    assert "2 other processes" in check.says


def test_a_gpu_that_cannot_be_used_is_said(card: type[Card90], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card, "missing", "cuda-core is not installed: pip install 'tilestep[gpu]'")
    check = found("gpu-target")
    assert (check.ok, check.mend) == (False, "pip install 'tilestep[gpu]'")
    monkeypatch.setattr(card, "missing", "the card is busy")
    check = found("gpu-target")
    assert (check.ok, check.says, check.mend) == (False, "the card is busy", "nvidia-smi")


def test_wrong_values_of_a_gpu_are_said(card: type[Card90], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_PROBE", doctor._PROBE.replace("D - 1 - threadIdx.x", "threadIdx.x"))
    assert found("gpu-target") == Check("gpu-target", False, "a small kernel gives wrong values")
