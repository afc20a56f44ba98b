"""Device memory of a run: each buffer allocated by itself, between two guard bands, NaN until it is written.

Host memory that the copies go through is plain and pageable, so that kernels have no mapping of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilestep.program import Buffer
from tilestep.targets.gpu.driver import Driver
from tilestep.targets.gpu.wire import Data, byte_size, is_fed, is_written

GUARD_BYTES = 4096
_NAN_BYTE = 0xFF  # four of them are a NaN

Bytes = NDArray[np.uint8]


class Block:
    """One allocation: a guard band, `size` bytes, a guard band."""

    def __init__(self, driver: Driver, stream: Any, size: int) -> None:
        self._driver = driver
        self._stream = stream
        self.size = size
        self._base = driver.call("cuMemAlloc", size + 2 * GUARD_BYTES)
        self.address = int(self._base) + GUARD_BYTES
        self.fill()

    def fill(self) -> None:
        """NaN everywhere, the guard bands too. Queued on the stream, like all that follows."""
        whole = self.size + 2 * GUARD_BYTES
        self._driver.call("cuMemsetD8Async", self._base, _NAN_BYTE, whole, self._stream)

    def write(self, data: Data) -> None:
        """Sets the first bytes of the block."""
        source = np.frombuffer(data, dtype=np.uint8)
        if source.size > self.size:
            raise ValueError(f"{source.size} bytes do not fit into {self.size}")
        if source.size:
            at = self._pointer(self.address)
            self._driver.call("cuMemcpyHtoDAsync", at, source.ctypes.data, source.size, self._stream)
            self._driver.call("cuStreamSynchronize", self._stream)  # `source` may go now

    def read(self) -> Bytes:
        """A copy of the block's bytes."""
        return self._read(self.address, self.size)

    def broken_guards(self) -> Iterator[str]:
        """`before` and `after` for the guard bands that hold something else than they were filled with."""
        for name, begin in (("before", self.address - GUARD_BYTES), ("after", self.address + self.size)):
            if (self._read(begin, GUARD_BYTES) != _NAN_BYTE).any():
                yield name

    def free(self) -> None:
        """Gives the memory back with nothing in it."""
        self.fill()
        self._driver.call("cuStreamSynchronize", self._stream)
        self._driver.call("cuMemFree", self._base)

    def _read(self, address: int, size: int) -> Bytes:
        data = np.empty(size, dtype=np.uint8)
        if size:
            at = self._pointer(address)
            self._driver.call("cuMemcpyDtoHAsync", data.ctypes.data, at, size, self._stream)
            self._driver.call("cuStreamSynchronize", self._stream)
        return data

    def _pointer(self, address: int) -> Any:
        return self._driver.api.CUdeviceptr(address)


class Memory:
    """The buffers of a job. What they are fed stays on the host, to be restored before every call."""

    def __init__(self, driver: Driver, stream: Any, buffers: Sequence[Buffer]) -> None:
        self.buffers = tuple(buffers)
        self._inputs: dict[str, Bytes] = {}
        self.blocks: dict[str, Block] = {}
        for buffer in self.buffers:
            self.blocks[buffer.name] = Block(driver, stream, byte_size(buffer))

    @property
    def fed(self) -> tuple[Buffer, ...]:
        """The buffers that get data, in order."""
        return tuple(buffer for buffer in self.buffers if is_fed(buffer))

    def feed(self, blobs: Sequence[Data]) -> None:
        """Keeps the data of the fed buffers, one blob each."""
        for buffer, blob in zip(self.fed, blobs, strict=True):
            if len(blob) != byte_size(buffer):
                raise ValueError(f"{buffer.name} is fed {len(blob)} bytes, not {byte_size(buffer)}")
            self._inputs[buffer.name] = np.frombuffer(blob, dtype=np.uint8)

    def restore(self) -> None:
        """Fresh inputs, and NaN in all else."""
        for name, block in self.blocks.items():
            if (data := self._inputs.get(name)) is None:
                block.fill()
            else:
                block.write(data.data)

    def outputs(self) -> list[Bytes]:
        return [self.blocks[buffer.name].read() for buffer in self.buffers if is_written(buffer)]

    def scrub(self) -> None:
        """NaN over everything that a run may have written."""
        for buffer in self.buffers:
            if is_written(buffer):
                self.blocks[buffer.name].fill()

    def changed_inputs(self) -> list[str]:
        return [
            name
            for name, data in self._inputs.items()
            if self._read_only(name) and not np.array_equal(self.blocks[name].read(), data)
        ]

    def free(self) -> None:
        for block in self.blocks.values():
            block.free()
        self.blocks.clear()

    def _read_only(self, name: str) -> bool:
        return any(buffer.name == name and buffer.role == "in" for buffer in self.buffers)


def wipe(arrays: Sequence[Bytes]) -> None:
    """Overwrites what was read: on some systems a kernel can read the host's memory."""
    for array in arrays:
        array.fill(_NAN_BYTE)
