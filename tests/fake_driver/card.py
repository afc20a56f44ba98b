"""The fake card, as a test describes it, and what was done with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fake_driver.building import libraries


class FakeCard:
    """Processes that are started from now on find a card. `describe` changes it for those started later."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path) -> None:
        self._patch = patch
        self._log = folder / "fake-driver.log"
        # Preloaded under the names that the bindings ask for, it is what they find, before any real driver.
        # It also gives the process its clock.
        patch.setenv("LD_PRELOAD", " ".join(map(str, libraries())))
        patch.setenv("TILESTEP_FAKE_LOG", str(self._log))

    def describe(self, **settings: object) -> None:
        """Settings of library/cuda/device.cpp and library/nvml/nvml.cpp, by their names."""
        self._patch.setenv(
            "TILESTEP_FAKE_CARD", " ".join(f"{name}={value}" for name, value in settings.items())
        )

    def log(self) -> list[str]:
        """What was done, a line each: loads, launches with their milliseconds, calls that the fake lacks."""
        return self._log.read_text().splitlines() if self._log.exists() else []

    def launches(self) -> list[str]:
        """The kernels that were launched, in order, without those of the timing itself."""
        names = [line.split()[1] for line in self.log() if line.startswith("launch ")]
        return [name for name in names if not name.startswith("tilestep_")]

    def lacks(self) -> set[str]:
        """Functions that were called and that the fake does not have."""
        return {line.removeprefix("missing ") for line in self.log() if line.startswith("missing ")}

    def processes(self) -> list[int]:
        """Workers that are alive."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes()
                command = (folder / "cmdline").read_bytes()
            except OSError:  # it has ended, or is somebody else's
                continue
            if str(self._log).encode() in environment and b"tilestep.targets.gpu.worker" in command:
                found.append(int(folder.name))
        return found
