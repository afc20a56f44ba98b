"""In the place of nvcc: for each submission the C++ file that stands in for its kernels."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from fake_driver.building import SUBMISSIONS, image
from tilestep import kernels
from tilestep.program import Program, SubmissionError
from tilestep.targets.gpu.images import DeviceImage, read_image


@dataclass
class StandIns:
    """A device compiler. The stand-in of a submission has its name; that of our kernel FOLDER/NAME.cu, known
    by its text, is FOLDER_NAME.cpp."""

    name: str = "stand-in 1.0"
    flags: tuple[str, ...] = ("-O3",)

    def image(self, program: Program) -> DeviceImage:
        name = _ours().get(program.text) or Path(program.file).stem
        if not (SUBMISSIONS / f"{name}.cpp").exists():
            raise SubmissionError(f"nothing stands in for {name}", file=program.file, outcome="broken")
        return read_image(image(f"{name}.cpp"))

    def hold(self) -> bytes:
        return image("hold.cpp")


@functools.cache
def _ours() -> dict[str, str]:
    """By their text, the names of the stand-ins of our kernels."""
    files = kernels.root().glob("*/*.cu")
    return {file.read_text(encoding="utf-8"): f"{file.parent.name}_{file.stem}" for file in files}
