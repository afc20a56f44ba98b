"""NVRTC, the compiler that is a library: run in the sandbox, by a Python of ours.

    python -m tilestep.targets.gpu.nvrtc FLAG...

compiles `submission.cu` of the current folder to `image.cubin` and writes what it says to standard error.
"""

from __future__ import annotations

import functools
import importlib
import sys
from pathlib import Path
from typing import Any

from tilestep.targets.gpu.compile import CONTRACT, IMAGE, SUBMISSION
from tilestep.targets.gpu.device_half import device_half, instantiations
from tilestep.targets.gpu.interpreter import pythonpath

_USUAL_HEADERS = ("/usr/local/cuda/include", "/opt/cuda/include")
_PACKAGED_HEADERS = ("cu13/include", "cuda_runtime/include")  # below the folder of the nvidia packages


@functools.cache
def version() -> str | None:
    """The library's version, None where it is not there."""
    try:
        error, major, minor = _library().nvrtcVersion()
    except Exception:  # not installed, or without its library: the bindings raise what they like
        return None
    return f"{major}.{minor}" if int(error) == 0 else None


def flags(architecture: str) -> tuple[str, ...]:
    return ("--std=c++17", "-lineinfo", "-w", "-default-device", f"-arch={architecture}")


class ByNvrtc:
    """How a submission is compiled by NVRTC."""

    program = "NVRTC"

    def prepared(self, text: str) -> str:
        return device_half(text, SUBMISSION)

    def argv(self, flags: tuple[str, ...]) -> list[str]:
        headers = [f"-I{folder}" for folder in _headers()]
        return [sys.executable, "-P", "-m", __name__, *flags, "-I.", *headers, f"-include={CONTRACT}"]

    def environment(self) -> dict[str, str]:
        return {"PYTHONPATH": pythonpath()}


def main(arguments: list[str]) -> int:
    """Compiles; the exit status is 1 for a file that does not compile."""
    nvrtc = _library()
    text = Path(SUBMISSION).read_text(encoding="utf-8")
    program = _value(nvrtc.nvrtcCreateProgram(text.encode(), SUBMISSION.encode(), 0, [], []))
    for name in instantiations(text):
        _value(nvrtc.nvrtcAddNameExpression(program, name.encode()))
    compiled = nvrtc.nvrtcCompileProgram(program, len(arguments), [flag.encode() for flag in arguments])[0]
    if int(compiled) != 0:
        log = b" " * _value(nvrtc.nvrtcGetProgramLogSize(program))
        _value(nvrtc.nvrtcGetProgramLog(program, log))
        sys.stderr.write(log.decode("utf-8", "replace"))
        return 1
    image = b" " * _value(nvrtc.nvrtcGetCUBINSize(program))
    _value(nvrtc.nvrtcGetCUBIN(program, image))
    Path(IMAGE).write_bytes(image)
    return 0


def _value(answer: tuple[Any, ...]) -> Any:
    if int(answer[0]) != 0:
        raise SystemExit(f"NVRTC fails: {answer[0]}")
    return answer[1] if len(answer) > 1 else None


def _library() -> Any:
    return importlib.import_module("cuda.bindings.nvrtc")


def _headers() -> list[str]:
    """Folders with CUDA's headers for half precision, tensor cores and groups, where there are any."""
    folders = [Path(folder) for folder in _USUAL_HEADERS]
    try:
        packages = importlib.import_module("nvidia").__path__
    except ImportError:
        packages = []
    folders += [Path(package) / below for package in packages for below in _PACKAGED_HEADERS]
    found = next((folder for folder in folders if (folder / "cuda_fp16.h").is_file()), None)
    return [str(folder) for folder in (found, found / "cccl") if folder.is_dir()] if found else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
