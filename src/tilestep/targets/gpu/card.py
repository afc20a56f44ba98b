"""The card: found, described, or one sentence about why it cannot be used."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tilestep.targets.gpu.clocks import Clocks
from tilestep.targets.gpu.driver import Driver, DriverError
from tilestep.targets.protocol import TargetUnavailableError

OLDEST = (7, 0)
_PROHIBITED = 2
_EXCLUSIVE = 3
# Once a clock for data at both edges.
_EDGES = 2
_MOST_NAMED = 3


class NoCardError(TargetUnavailableError):
    """There is no card that can be used: one sentence, with what mends it."""


@dataclass(frozen=True)
class Facts:
    """What the worker tells of the card. Clocks in MHz, bandwidth in bytes a second."""

    name: str
    driver: str
    capability: tuple[int, int]
    memory_bytes: int
    multiprocessors: int
    l2_bytes: int
    bandwidth: float
    highest_clock: int
    others: tuple[int, ...]  # numbers of processes that were on the card at the start
    exclusive: bool  # one process at a time

    def packed(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def unpacked(cls, body: dict[str, Any]) -> Facts:
        major, minor = body["capability"]
        others = tuple(int(number) for number in body["others"])
        return cls(**{**body, "capability": (int(major), int(minor)), "others": others})


@dataclass(frozen=True)
class Session:
    """A context on the card, a stream of our own, and the card's clocks."""

    driver: Driver
    stream: Any
    clocks: Clocks
    facts: Facts
    device: Any  # keeps the context


def open_card() -> Session:
    """Takes the first card that is visible. Raises NoCardError."""
    try:
        core = importlib.import_module("cuda.core")
        driver = Driver()
    except ImportError as error:
        raise NoCardError(f"cuda-core cannot be imported ({error}): pip install 'tilestep[gpu]'") from None
    _start_driver(driver)
    device = _device(core)
    name, properties = str(device.name), device.properties
    capability = (int(device.compute_capability[0]), int(device.compute_capability[1]))
    if capability < OLDEST:
        raise NoCardError(
            f"{name} has compute capability {capability[0]}.{capability[1]}; "
            f"the GPU target needs {OLDEST[0]}.{OLDEST[1]} or newer"
        )
    if int(properties.compute_mode) == _PROHIBITED:
        raise NoCardError(f"{name} is set to take no work (compute mode prohibited): nvidia-smi -c 0")
    clocks = Clocks(_bus_id(driver, int(device.device_id)))
    others = clocks.processes()  # before this process is one of them
    stream = _context(device, name, others)
    memory = driver.call("cuMemGetInfo")
    facts = Facts(
        name=name,
        driver=clocks.driver() or _driver_version(driver),
        capability=capability,
        memory_bytes=int(memory[1]),
        multiprocessors=int(properties.multiprocessor_count),
        l2_bytes=int(properties.l2_cache_size),
        bandwidth=_bandwidth(properties),
        highest_clock=clocks.highest() or int(properties.clock_rate) // 1000,
        others=others,
        exclusive=int(properties.compute_mode) == _EXCLUSIVE,
    )
    # No set-aside of the L2 cache outlives its call; a card without that has none.
    driver.tried("cuCtxSetLimit", driver.api.CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0)
    return Session(driver, stream.handle, clocks, facts, (device, stream))


def no_memory(name: str, others: Sequence[int], why: str) -> str:
    """The sentence for a card that is full: by whom, as far as it is known, and what mends it."""
    named = [str(number) for number in others[:_MOST_NAMED]]
    if len(others) > _MOST_NAMED:
        named.append(f"{len(others) - _MOST_NAMED} more")
    plural = "es" if len(named) > 1 else ""
    who = f"process{plural} {', '.join(named)}" if named else "nvidia-smi tells which process"
    return (
        f"{name} has no memory left ({why}): end what holds it ({who}), or choose another card by "
        "CUDA_VISIBLE_DEVICES"
    )


def _start_driver(driver: Driver) -> None:
    try:
        driver.call("cuInit", 0)
    except DriverError as error:
        if error.label == "CUDA_ERROR_NO_DEVICE":
            raise NoCardError("there is no NVIDIA GPU here, or none that is visible") from None
        raise NoCardError(f"the NVIDIA driver does not start ({error.label}): nvidia-smi") from None
    except Exception as error:  # the bindings' own, of a class that moves from version to version
        if "NotFound" in type(error).__name__ or isinstance(error, RuntimeError | OSError):
            raise NoCardError("there is no NVIDIA driver here: libcuda.so.1 is not found") from None
        raise


def _device(core: Any) -> Any:
    try:
        return core.Device(0)
    except Exception as error:  # cuda-core raises its own and plain ones
        raise NoCardError(f"there is no NVIDIA GPU here, or none that is visible ({error})") from None


def _context(device: Any, name: str, others: Sequence[int]) -> Any:
    """A stream in the card's context, which is made current."""
    try:
        device.set_current()
        return device.create_stream()
    except Exception as error:  # cuda-core raises its own and plain ones
        says = str(error)
        if "OUT_OF_MEMORY" in says:
            raise NoCardError(no_memory(name, others, "it takes no context")) from None
        if "DEVICE_UNAVAILABLE" in says or "DEVICES_UNAVAILABLE" in says:
            raise NoCardError(f"{name} is busy: another process has it to itself (nvidia-smi)") from None
        raise NoCardError(f"{name} cannot be used: {says}") from None


def _driver_version(driver: Driver) -> str:
    version = int(driver.call("cuDriverGetVersion"))
    return f"for CUDA {version // 1000}.{version % 1000 // 10}"


def _bus_id(driver: Driver, device: int) -> str:
    """By the driver itself: cuda-core asks the CUDA runtime, which has demands of its own."""
    return str(driver.call("cuDeviceGetPCIBusId", 32, device).split(b"\0")[0].decode())


def _bandwidth(properties: Any) -> float:
    return _EDGES * int(properties.memory_clock_rate) * 1000.0 * int(properties.global_memory_bus_width) / 8
