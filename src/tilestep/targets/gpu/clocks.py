"""What the management library (NVML) tells about the card: clocks, and why they are lowered.

It is an extra; without it clocks are 0 and nobody is seen.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

# Bits of the clock event reasons that make a measurement unlike its neighbours. Idle and settings do not.
_LOWERED = {
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}


class Clocks:
    """One card, by its PCI bus address."""

    def __init__(self, pci_bus_id: str) -> None:
        self._nvml: Any = None
        self._card: Any = None
        try:
            nvml = importlib.import_module("pynvml")
            nvml.nvmlInit()
            self._nvml = nvml
            self._card = self._find(pci_bus_id)
        except Exception:  # not installed, no library, no rights: no clocks
            self._nvml = None

    def now(self) -> tuple[int, tuple[str, ...]]:
        """The multiprocessors' clock in MHz (0: unknown), and the reasons for a lowered one."""
        if self._nvml is None:
            return 0, ()
        return self._ask(self._clock, 0), self._ask(self._lowered, ())

    def highest(self) -> int:
        """The highest clock of the multiprocessors, MHz; 0: unknown."""
        nvml = self._nvml
        if nvml is None:
            return 0
        return int(self._ask(lambda: nvml.nvmlDeviceGetMaxClockInfo(self._card, nvml.NVML_CLOCK_SM), 0))

    def driver(self) -> str:
        nvml = self._nvml
        return "" if nvml is None else str(self._ask(lambda: _text(nvml.nvmlSystemGetDriverVersion()), ""))

    def processes(self) -> tuple[int, ...]:
        """The numbers of the processes that compute on the card."""
        nvml = self._nvml
        if nvml is None:
            return ()
        found = self._ask(lambda: nvml.nvmlDeviceGetComputeRunningProcesses(self._card), ())
        return tuple(int(process.pid) for process in found)

    def _find(self, pci_bus_id: str) -> Any:
        try:
            return self._nvml.nvmlDeviceGetHandleByPciBusId(pci_bus_id.encode())
        except self._nvml.NVMLError:
            return self._nvml.nvmlDeviceGetHandleByIndex(0)

    def _clock(self) -> int:
        return int(self._nvml.nvmlDeviceGetClockInfo(self._card, self._nvml.NVML_CLOCK_SM))

    def _lowered(self) -> tuple[str, ...]:
        newer = getattr(self._nvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
        ask = newer or self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons
        bits = int(ask(self._card))
        return tuple(name for bit, name in _LOWERED.items() if bits & bit)

    def _ask(self, question: Callable[[], Any], otherwise: Any) -> Any:
        try:
            return question()
        except Exception:  # of the library's, or of bindings that do not know a newer one
            return otherwise


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
