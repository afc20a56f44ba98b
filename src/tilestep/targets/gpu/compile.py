"""A submission's device code as a cubin for the card present: by nvcc where there is one, else by NVRTC."""

from __future__ import annotations

import functools
import importlib
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from tilestep import contract
from tilestep.emulator.build import Builder
from tilestep.emulator.cache import digest
from tilestep.emulator.sandbox import Limits, private_folder, run_limited
from tilestep.program import Program, SubmissionError
from tilestep.targets.building import as_compiled
from tilestep.targets.gpu.complaints import explain
from tilestep.targets.gpu.images import BadImageError, DeviceImage, read_image
from tilestep.targets.gpu.timing import HOLD_SOURCE
from tilestep.targets.protocol import TargetUnavailableError

SUBMISSION = "submission.cu"
CONTRACT = "tilestep_contract.h"
IMAGE = "image.cubin"
_GIVEN = frozenset({*contract.KERNEL_CONSTANTS, "RMS_EPS"})
_USUAL_PLACES = ("/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc")
_NO_COMPILER = "there is no CUDA compiler here: pip install 'tilestep[gpu]' brings NVRTC"
_OLDEST_WITH_OWN_FEATURES = 9  # from here on an architecture has features that only `sm_90a` and so on know

_MIB = 1024 * 1024
_MOST_VARIABLE_BYTES = 256 * _MIB
LIMITS = Limits(
    seconds=120.0,
    cpu_seconds=120.0,
    memory_bytes=8192 * _MIB,
    address_bytes=32 * 1024 * _MIB,
    folder_bytes=512 * _MIB,
    open_files=256,
    locked=False,  # nvcc starts the compilers that it consists of
)


class DeviceCompiler(Protocol):
    """Turns CUDA C++ into images for one card."""

    @property
    def name(self) -> str:
        """Name and version: "nvcc 13.0.88"."""

    @property
    def flags(self) -> tuple[str, ...]: ...

    def image(self, program: Program) -> DeviceImage:
        """Raises SubmissionError (broken) for what does not compile."""

    def hold(self) -> bytes:
        """The image of the kernel that holds a stream. Raises NoDeviceCompilerError if it cannot."""


class NoDeviceCompilerError(TargetUnavailableError):
    """There is no device compiler, or none that works for this card and its driver: one sentence."""


Maker = Callable[[Builder, tuple[int, int]], DeviceCompiler]


def choose(
    makers: Iterable[Maker],
    builder: Builder,
    capability: tuple[int, int],
    try_out: Callable[[DeviceCompiler], None],
) -> DeviceCompiler:
    """The first that works; `try_out` raises NoDeviceCompilerError for one whose images the driver refuses.

    Raises NoDeviceCompilerError with what is wrong with the first that is here.
    """
    why = _NO_COMPILER
    for make in makers:
        try:
            compiler = make(builder, capability)
            try_out(compiler)
        except NoDeviceCompilerError as error:
            why = str(error) if why == _NO_COMPILER else why
        else:
            return compiler
    raise NoDeviceCompilerError(why)


def nvcc(builder: Builder, capability: tuple[int, int]) -> DeviceCompiler:
    """The nvcc of this machine, or of PyPI. Raises NoDeviceCompilerError."""
    found = find_nvcc()
    if found is None:
        raise NoDeviceCompilerError(_NO_COMPILER)
    return _Compiler(
        builder, f"nvcc {found.version}", found.stamp, _nvcc_flags(capability), _ByNvcc(found.path)
    )


def nvrtc(builder: Builder, capability: tuple[int, int]) -> DeviceCompiler:
    """NVRTC, a library. Raises NoDeviceCompilerError."""
    from tilestep.targets.gpu.nvrtc import ByNvrtc, flags, version

    found = version()
    if found is None:
        raise NoDeviceCompilerError(_NO_COMPILER)
    return _Compiler(builder, f"NVRTC {found}", found, flags(architecture(capability)), ByNvrtc())


def architecture(capability: tuple[int, int]) -> str:
    major, minor = capability
    return f"sm_{major}{minor}{'a' if major >= _OLDEST_WITH_OWN_FEATURES else ''}"


def _nvcc_flags(capability: tuple[int, int]) -> tuple[str, ...]:
    return ("-std=c++17", "-O3", "-lineinfo", "-w", f"-arch={architecture(capability)}")


@dataclass(frozen=True)
class Nvcc:
    """An nvcc that was found. `stamp` changes when it does."""

    path: str
    version: str
    stamp: str


@functools.cache
def find_nvcc() -> Nvcc | None:
    """nvcc from PATH, from where it usually is, or from PyPI's packages."""
    places = [shutil.which("nvcc"), *_USUAL_PLACES, _nvcc_of_packages()]
    for place in places:
        if place and Path(place).is_file() and (found := _look_at(place)):
            return found
    return None


def _nvcc_of_packages() -> str | None:
    try:
        pathfinder: Any = importlib.import_module("cuda.pathfinder")
        found = pathfinder.find_nvidia_binary_utility("nvcc")
    except Exception:  # not installed, or too old to look for programs
        return None
    return str(found) if found else None


def _look_at(place: str) -> Nvcc | None:
    try:
        said = subprocess.run(
            [place, "--version"], capture_output=True, text=True, errors="replace", timeout=60
        )
        status = Path(place).resolve().stat()
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = [line for line in said.stdout.splitlines() if "release" in line]
    if said.returncode != 0 or not lines:
        return None
    version = lines[-1].rsplit("V", 1)[-1].strip()
    return Nvcc(place, version, f"{place}|{said.stdout}|{status.st_size}|{status.st_mtime_ns}")


class Way(Protocol):
    """How one compiler is started."""

    @property
    def program(self) -> str:
        """What it is called in a sentence."""

    def prepared(self, text: str) -> str:
        """The text that the compiler gets. Raises SubmissionError."""

    def argv(self, flags: tuple[str, ...]) -> list[str]:
        """Compiles `submission.cu` of the current folder to `image.cubin`."""

    def environment(self) -> dict[str, str]: ...


@dataclass(frozen=True)
class _ByNvcc:
    path: str
    program: str = "nvcc"

    def prepared(self, text: str) -> str:
        return text

    def argv(self, flags: tuple[str, ...]) -> list[str]:
        return [self.path, *flags, "-cubin", "-include", CONTRACT, SUBMISSION, "-o", IMAGE]

    def environment(self) -> dict[str, str]:
        return {}


def _too_large(image: DeviceImage) -> str:
    """A sentence about a module that a card might not even load; what a step allows is far less."""
    variables = image.readable_variables()
    total = sum(variables.values())
    if total <= _MOST_VARIABLE_BYTES:
        return ""
    largest = max(variables, key=lambda name: variables[name])
    return (
        f"the array {largest} has {variables[largest]:,} bytes; no step allows as much as "
        f"{_MOST_VARIABLE_BYTES:,} in variables"
    )


@dataclass(frozen=True)
class _Compiler:
    builder: Builder
    name: str
    stamp: str
    flags: tuple[str, ...]
    way: Way

    def image(self, program: Program) -> DeviceImage:
        try:
            image = read_image(self._compiled(as_compiled(self.builder, program)))
        except BadImageError as error:
            says = f"{self.name} fails on this file: {error}"
            raise SubmissionError(says, file=program.file, outcome="broken") from None
        # Where everything is device code, the contract's constants are variables, but not the file's.
        own = {name: size for name, size in image.variables.items() if name not in _GIVEN}
        image = replace(image, variables=own)
        if says := _too_large(image):
            raise SubmissionError(says, file=program.file)
        return image

    def hold(self) -> bytes:
        own = Program(file="hold.cu", sha256="", language="cuda", step="", source="", text=HOLD_SOURCE)
        try:
            return self._compiled(own)
        except SubmissionError as error:
            raise NoDeviceCompilerError(f"{self.name} does not compile for this card: {error.says}") from None

    def _compiled(self, program: Program) -> bytes:
        text = self.way.prepared(program.text)
        parts = (self.stamp, self.name, contract.header(), *self.flags, text)
        confine = self.builder.confine  # made before the cache is asked for another file
        path = self.builder.cache.get_or_make(
            "cubin-" + digest(*parts), lambda to: self._compile(program, text, confine, to)
        )
        return path.read_bytes()

    def _compile(self, program: Program, text: str, confine: Path, to: Path) -> None:
        with private_folder() as folder:
            (folder / CONTRACT).write_text(contract.header())
            (folder / SUBMISSION).write_text(text, encoding="utf-8")
            argv = self.way.argv(self.flags)
            ended = run_limited(argv, folder, LIMITS, confine, self.way.environment())
            image = folder / IMAGE
            if ended.why or ended.code != 0 or not image.is_file():
                said = (ended.stderr + b"\n" + ended.stdout).decode("utf-8", "replace")
                raise explain(self.way.program, said, ended.why, program)
            to.write_bytes(image.read_bytes())
