"""A recorded plan on the device: its module loaded, addresses put into its arguments, its items launched."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilestep.program import Argument, Launch, LaunchPlan, Place, Transfer, scratch_name
from tilestep.targets.gpu.driver import Driver, DriverError
from tilestep.targets.gpu.memory import Block

_SLOT_BYTES = 16  # arguments start at a multiple of the largest alignment that a parameter has
_LABELS_OF_ABSENCE = ("CUDA_ERROR_NOT_SUPPORTED", "CUDA_ERROR_NOT_FOUND")  # a driver that cannot tell


class PlanError(Exception):
    """A plan that this image cannot play: one sentence about the item."""


@dataclass(frozen=True)
class Step:
    """One item, ready to go: `call(*arguments)` queues it and returns the driver's tuple."""

    item: Launch | Transfer
    call: Callable[..., Any]
    arguments: tuple[Any, ...]


class Player:
    """A plan with a module of its own, loaded anew: its variables hold what the file says."""

    def __init__(
        self,
        driver: Driver,
        stream: Any,
        image: bytes,
        plan: LaunchPlan,
        blocks: Mapping[str, Block],
        variables: Mapping[str, str],
        kernels: Mapping[str, str],
    ) -> None:
        """`variables` and `kernels` map the plan's names to those of the image."""
        self._driver = driver
        self._stream = stream
        self._image = ctypes.create_string_buffer(image, len(image) + 1)  # the driver wants a NUL behind text
        try:
            self._module = driver.call("cuModuleLoadData", ctypes.addressof(self._image))
        except DriverError as error:
            if error.label == "CUDA_ERROR_OUT_OF_MEMORY":  # held by others: an image's variables are few
                raise
            raise PlanError(f"the card does not load the GPU's code of this file: {error.label}") from None
        self._variables = variables
        self._kernels = kernels
        self._functions: dict[str, Any] = {}
        self._shared = _limits(plan)
        self._kept: list[Any] = []  # host memory that launches point to
        self._blocks = dict(blocks)
        self.scratch: list[Block] = []
        try:
            for number, size in enumerate(plan.scratch_bytes, start=1):
                self.scratch.append(Block(driver, stream, size))
                self._blocks[scratch_name(number)] = self.scratch[-1]
            self.steps = tuple(self._step(item) for item in plan.items)
        except PlanError:  # the worker goes on with the next plan
            self.close()
            raise

    def restore(self) -> None:
        """NaN in the scratch memory."""
        for block in self.scratch:
            block.fill()

    def close(self) -> None:
        for block in self.scratch:
            block.free()
        self.scratch.clear()
        self._driver.call("cuModuleUnload", self._module)

    def _step(self, item: Launch | Transfer) -> Step:
        return self._launch(item) if isinstance(item, Launch) else self._transfer(item)

    def _launch(self, launch: Launch) -> Step:
        function = self._function(launch)
        parameters = self._parameters(launch.arguments)
        arguments = (
            function,
            *launch.grid,
            *launch.block,
            launch.dynamic_shared,
            self._stream,
            parameters,
            0,
        )
        if len(self._shared[launch.symbol]) == 1:
            return Step(launch, self._driver.api.cuLaunchKernel, arguments)
        limit = self._default_limit(function) if launch.shared_limit is None else launch.shared_limit
        return Step(launch, self._launch_with_limit, (limit, *arguments))

    def _launch_with_limit(self, limit: int, function: Any, *rest: Any) -> Any:
        self._set_limit(function, limit)
        return self._driver.api.cuLaunchKernel(function, *rest)

    def _function(self, launch: Launch) -> Any:
        function = self._functions.get(launch.symbol)
        if function is None:
            name = self._kernels.get(launch.symbol, launch.symbol)
            try:
                function = self._driver.call("cuModuleGetFunction", self._module, name.encode())
            except DriverError:
                raise PlanError(f"the GPU's code has no kernel {launch.kernel}") from None
            self._functions[launch.symbol] = function
            (limit, *more) = self._shared[launch.symbol]
            if limit is not None and not more:
                self._set_limit(function, limit)
        self._compare_parameters(launch, function)
        return function

    def _set_limit(self, function: Any, limit: int) -> None:
        """Asks for so much dynamic shared memory as the seam did, and the card judges whether that will do.

        What it gives depends on the kernel's static arrays. Where it refuses, the limit stays as it was, and
        the launch that needed more is refused.
        """
        self._driver.tried("cuFuncSetAttribute", function, self._limit_attribute, limit)

    def _default_limit(self, function: Any) -> int:
        """The limit of a kernel that nothing has been asked for, yet."""
        return int(self._driver.call("cuFuncGetAttribute", self._limit_attribute, function))

    @property
    def _limit_attribute(self) -> Any:
        return self._driver.api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

    def _compare_parameters(self, launch: Launch, function: Any) -> None:
        """The device's idea of a kernel's parameters must be the host's: the driver copies by its own."""
        for index in range(len(launch.arguments) + 1):
            try:
                _, size = self._driver.call("cuFuncGetParamInfo", function, index)
            except DriverError as error:
                if error.label in _LABELS_OF_ABSENCE:
                    return
                size = None
            wanted = len(launch.arguments[index].data) if index < len(launch.arguments) else None
            if size != wanted:
                raise PlanError(f"kernel {launch.kernel} has other parameters on the GPU than in host code")

    def _parameters(self, arguments: Sequence[Argument]) -> int:
        """The address of an array of pointers to the arguments; 0 for none."""
        if not arguments:
            return 0
        sizes = [-(-max(1, len(argument.data)) // _SLOT_BYTES) * _SLOT_BYTES for argument in arguments]
        store = np.zeros(sum(sizes) + _SLOT_BYTES, dtype=np.uint8)
        begin = -store.ctypes.data % _SLOT_BYTES
        addresses = np.zeros(len(arguments), dtype=np.uint64)
        for index, (argument, size) in enumerate(zip(arguments, sizes, strict=True)):
            data = self._with_addresses(argument)
            store[begin : begin + len(data)] = np.frombuffer(data, dtype=np.uint8)
            addresses[index] = store.ctypes.data + begin
            begin += size
        self._kept += [store, addresses]
        return int(addresses.ctypes.data)

    def _with_addresses(self, argument: Argument) -> bytes:
        data = bytearray(argument.data)
        for at, place in argument.pointers:
            if not 0 <= at <= len(data) - 8:
                raise PlanError(f"a pointer at byte {at} of an argument of {len(data)} bytes")
            data[at : at + 8] = (self._address(place) % 2**64).to_bytes(8, "little")
        return bytes(data)

    def _address(self, place: Place) -> int:
        if block := self._blocks.get(place.buffer):
            return block.address + place.offset
        if place.variable is not None:
            return self._variable(place.variable) + place.offset
        raise PlanError(f"the plan names {place.buffer}, which is no buffer of the job")

    def _variable(self, symbol: str) -> int:
        name = self._variables.get(symbol, symbol)
        try:
            address, _ = self._driver.call("cuModuleGetGlobal", self._module, name.encode())
        except DriverError:
            raise PlanError(f"the GPU's code has no variable {symbol}") from None
        return int(address)

    def _transfer(self, transfer: Transfer) -> Step:
        api = self._driver.api
        to = api.CUdeviceptr(self._address(transfer.to) % 2**64)
        if isinstance(transfer.source, Place):
            source = api.CUdeviceptr(self._address(transfer.source) % 2**64)
            return Step(transfer, api.cuMemcpyDtoDAsync, (to, source, transfer.count, self._stream))
        if transfer.source is not None:
            data = np.frombuffer(transfer.source, dtype=np.uint8)
            self._kept.append(data)
            arguments = (to, data.ctypes.data, min(transfer.count, data.size), self._stream)
            return Step(transfer, api.cuMemcpyHtoDAsync, arguments)
        fill = transfer.fill & 0xFF
        return Step(transfer, api.cuMemsetD8Async, (to, fill, transfer.count, self._stream))


def _limits(plan: LaunchPlan) -> dict[str, list[int | None]]:
    """By symbol, the different limits of dynamic shared memory that were set before its launches.

    One is set once; where there are several, each launch sets its own: a second call of the plan would else
    begin with the last of the first.
    """
    found: dict[str, dict[int | None, None]] = {}
    for item in plan.items:
        if isinstance(item, Launch):
            found.setdefault(item.symbol, {})[item.shared_limit] = None
    return {symbol: list(limits) for symbol, limits in found.items()}
