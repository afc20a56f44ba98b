"""In the place of nvcc: for each submission the C++ file that stands in for its kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from fake_driver.building import SUBMISSIONS, image
from tilestep.program import Program, SubmissionError
from tilestep.targets.gpu.images import DeviceImage, read_image


@dataclass
class StandIns:
    """A device compiler. A submission's stand-in has its name, or the one that `known` gives it."""

    known: dict[str, str] = field(default_factory=dict)
    name: str = "stand-in 1.0"
    flags: tuple[str, ...] = ("-O3",)

    def image(self, program: Program) -> DeviceImage:
        stem = Path(program.file).stem
        file = SUBMISSIONS / f"{self.known.get(stem, stem)}.cpp"
        if not file.exists():
            raise SubmissionError(
                f"nothing stands in for {program.file}", file=program.file, outcome="broken"
            )
        return read_image(image(file))

    def hold(self) -> bytes:
        return image("hold.cpp")
