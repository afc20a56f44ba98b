"""What this machine can judge, found by trying: facts for `tilestep doctor`."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tilestep import contract
from tilestep.emulator.build import Builder, RuntimeBuildError
from tilestep.emulator.cache import Cache, default_folder
from tilestep.emulator.compilers import MEND, find_compiler, missing_compiler
from tilestep.emulator.job import WorkerError
from tilestep.emulator.sandbox import protections
from tilestep.frontends.cuda import load
from tilestep.program import Buffer, Job, SubmissionError
from tilestep.targets.cpu import CpuTarget
from tilestep.targets.gpu import GpuTarget
from tilestep.targets.protocol import Target, TargetUnavailableError

_OLDEST_PYTHON = (3, 11)
_EXTRA = "pip install 'tilestep[gpu]'"

# As small as a kernel can be that needs what kernels need: blocks, threads, shared memory, a barrier.
_PROBE = """\
__global__ void probe(const float* x, const float* weight, float* y) {
  __shared__ float row[D];
  row[threadIdx.x] = x[blockIdx.x * D + threadIdx.x];
  __syncthreads();  // row is written before another thread reads it
  y[blockIdx.x * D + threadIdx.x] = row[D - 1 - threadIdx.x] * weight[threadIdx.x];
}
void runRmsNorm(const float* x, const float* weight, float* y, int T) { probe<<<T, D>>>(x, weight, y); }
"""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. `mend` is the command that mends it, where it is not well and can be."""

    name: str
    ok: bool
    says: str
    mend: str = ""


def examine() -> list[Check]:
    """Looks at this machine; takes a second or two, more when the runtime must be compiled first."""
    return list(_checks())


def _checks() -> Iterator[Check]:
    yield _python()
    compiler, cache = _compiler(), _cache()
    yield compiler
    yield cache
    if compiler.ok and cache.ok:
        yield _emulator()
        yield _sandbox()
    yield _gpu()
    yield _nvcc()
    if compiler.ok and cache.ok and _has_gpu():
        yield _gpu_target()


def _python() -> Check:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count() or 1} cores"
    says = f"{platform.python_version()} on {machine}"
    if sys.version_info >= _OLDEST_PYTHON:
        return Check("python", True, says)
    wanted = ".".join(map(str, _OLDEST_PYTHON))
    return Check("python", False, f"{says}; tilestep needs {wanted} or newer", f"install Python {wanted}")


def _compiler() -> Check:
    if missing := missing_compiler():
        chosen = os.environ.get("TILESTEP_CXX")
        return Check("compiler", False, missing, "unset TILESTEP_CXX" if chosen else MEND)
    compiler = find_compiler()
    return Check("compiler", True, f"{compiler.name}, {compiler.argv[0]}")


def _cache() -> Check:
    folder = default_folder()
    try:
        cache = Cache()
        with tempfile.TemporaryFile(dir=cache.objects):
            pass
    except OSError as error:
        says = f"{folder} cannot be written: {error.strerror or error}"
        return Check("cache", False, says, "export TILESTEP_CACHE=/a/folder/of/yours")
    return Check("cache", True, f"{folder}, {cache.size_bytes() / 1e6:.0f} MB")


def _emulator() -> Check:
    """Builds a kernel and runs it under the checkers."""
    wrong = _wrong_with(CpuTarget(), "check")
    return Check("emulator", not wrong, wrong or "a small kernel compiles, runs and is checked", _mend(wrong))


def _wrong_with(target: Target, mode: str) -> str:
    """What goes wrong with a small kernel on a target; "" where nothing does."""
    x = np.arange(2 * contract.D, dtype=np.float32).reshape(2, contract.D)
    weight = np.full((1, contract.D), 2, dtype=np.float32)
    try:
        with tempfile.TemporaryDirectory(prefix="tilestep-") as folder:
            path = Path(folder) / "probe.cu"
            path.write_text(_PROBE)
            built = target.build(load(path, contract.STEP["rmsnorm"]))
            buffers = (
                Buffer("x", 2, contract.D, "in", x),
                Buffer("weight", 1, contract.D, "in", weight),
                Buffer("y", 2, contract.D, "out"),
            )
            run = target.run(built, Job(buffers, (2,), mode))
    except (SubmissionError, RuntimeBuildError, WorkerError, TargetUnavailableError, OSError) as error:
        return f"a small kernel does not run: {error}"
    if run.ended != "finished":
        return f"a small kernel did not finish: {run.says}"
    if not np.array_equal(run.outputs["y"], x[:, ::-1] * weight):
        return "a small kernel gives wrong values"
    return f"a small kernel is found at fault: {run.findings[0].says}" if run.findings else ""


def _mend(wrong: str) -> str:
    return "tilestep doctor --json" if wrong.startswith("a small kernel does not run") else ""


def _sandbox() -> Check:
    holds = protections(Builder(find_compiler(), Cache()).confine)
    missing = [name for name, there in holds.items() if not there]
    if not missing:
        return Check("sandbox", True, "submissions have no processes, sockets or files but their own")
    says = f"this system cannot take away: {', '.join(missing)}; time, memory and disk are limited"
    return Check("sandbox", True, f"{says}. Judge only files that you would run yourself")


def _gpu() -> Check:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return Check("gpu", True, "none here: values, faults and traffic are judged, speed is not")
    says, ok = _first_line([tool, "--query-gpu=name,driver_version", "--format=csv,noheader"])
    return Check("gpu", ok, says if ok else f"nvidia-smi fails: {says}", "" if ok else "nvidia-smi")


def _has_gpu() -> bool:
    return shutil.which("nvidia-smi") is not None or Path("/dev/nvidiactl").exists()


def _gpu_target() -> Check:
    """Takes the card, compiles a kernel for it and runs it there."""
    target = GpuTarget()
    try:
        if missing := target.available():
            return Check("gpu-target", False, missing, _EXTRA if _EXTRA in missing else "nvidia-smi")
        if wrong := _wrong_with(target, "fast"):
            return Check("gpu-target", False, wrong, _mend(wrong))
        card = target.card
        others = f"; {card.others} other processes are on the card" if card.others else ""
        says = (
            f"a small kernel compiles ({card.compiler}) and runs on {card.name}, driver {card.driver}{others}"
        )
        return Check("gpu-target", True, says)
    finally:
        target.close()


def _nvcc() -> Check:
    tool = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if tool is None:
        return Check("nvcc", True, "none here, and none needed: the emulator compiles .cu files itself")
    said, ok = _first_line([tool, "--version"], find="release")
    return Check("nvcc", ok, f"{said}, {tool}" if ok else f"{tool} fails: {said}")


def _first_line(argv: list[str], find: str = "") -> tuple[str, bool]:
    """The first line that a tool prints (of those that hold `find`), and whether it succeeded."""
    try:
        said = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error), False
    lines = [
        line.strip() for line in (said.stdout or said.stderr).splitlines() if line.strip() and find in line
    ]
    return (lines or ["it says nothing"])[0], said.returncode == 0
