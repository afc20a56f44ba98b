"""In the place of nvcc: for each submission the C++ file that stands in for its kernels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fake_driver.building import SUBMISSIONS, image
from tilestep.program import Program, SubmissionError
from tilestep.targets.gpu.images import DeviceImage, read_image


@dataclass
class StandIns:
    """A device compiler. The stand-in of a submission has its name; that of FOLDER/NAME.cu of our kernels
    is FOLDER_NAME.cpp."""

    name: str = "stand-in 1.0"
    flags: tuple[str, ...] = ("-O3",)

    def image(self, program: Program) -> DeviceImage:
        submission = Path(program.file)
        for name in (f"{submission.parent.name}_{submission.stem}", submission.stem):
            if (SUBMISSIONS / f"{name}.cpp").exists():
                return read_image(image(f"{name}.cpp"))
        raise SubmissionError(f"nothing stands in for {program.file}", file=program.file, outcome="broken")

    def hold(self) -> bytes:
        return image("hold.cpp")
