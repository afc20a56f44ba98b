"""What passes between the target and its worker: JSON with raw blobs behind it, and plans as JSON.

A frame is two lengths (of the JSON and of all blobs), the JSON, the blobs; the JSON tells each blob's length.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tilestep.program import Argument, Buffer, Floats, Launch, LaunchPlan, Place, Transfer, Triple

Data = bytes | bytearray | memoryview

HEAD = struct.Struct("<II")
_MOST_TEXT = 64 * 1024**2
_MOST_BLOBS = 2 * 1024**3 - 1
_FLOAT = np.dtype("<f4")


class WireError(Exception):
    """A frame that is none, or the end of the pipe in the middle of one."""


@dataclass(frozen=True)
class Message:
    """One request or answer."""

    body: dict[str, Any]
    blobs: tuple[memoryview, ...] = field(default=())


def frame(body: dict[str, Any], blobs: Sequence[Data] = ()) -> list[Data]:
    """The pieces of a frame, to be written in order. Raises WireError for what is too large."""
    views = [memoryview(blob).cast("B") for blob in blobs]
    text = json.dumps({**body, "blobs": [len(view) for view in views]}).encode()
    size = sum(len(view) for view in views)
    if len(text) > _MOST_TEXT or size > _MOST_BLOBS:
        raise WireError(f"a message of {(len(text) + size) / 1e6:.0f} MB is too large")
    return [HEAD.pack(len(text), size), text, *views]


def receive(read: Callable[[int], Data]) -> Message:
    """One frame through `read(count)`, which returns that many bytes or raises. Raises WireError."""
    text_size, blobs_size = HEAD.unpack(read(HEAD.size))
    if text_size > _MOST_TEXT or blobs_size > _MOST_BLOBS:
        raise WireError("this is no frame: its lengths are impossible")
    try:
        body = json.loads(bytes(read(text_size)))
    except (ValueError, RecursionError) as error:
        raise WireError("this is no frame: it holds no JSON") from error
    sizes = body.pop("blobs", None) if isinstance(body, dict) else None
    if not isinstance(sizes, list) or not all(type(size) is int and size >= 0 for size in sizes):
        raise WireError("this is no frame: it does not tell the lengths of its blobs")
    if sum(sizes) != blobs_size:
        raise WireError("this is no frame: the lengths of its blobs do not add up")
    rest = memoryview(read(blobs_size)) if blobs_size else memoryview(b"")
    blobs = []
    for size in sizes:
        blobs.append(rest[:size])
        rest = rest[size:]
    return Message(body, tuple(blobs))


def pack_plan(plan: LaunchPlan, blobs: list[Data]) -> dict[str, Any]:
    """A plan's items as JSON; bytes of the host that are copied are added to `blobs`."""
    return {"items": [_pack_item(item, blobs) for item in plan.items], "scratch": list(plan.scratch_bytes)}


def unpack_plan(body: dict[str, Any], blobs: Sequence[memoryview]) -> LaunchPlan:
    """The plan that `pack_plan` packed. Raises WireError."""
    try:
        items = tuple(_unpack_item(item, blobs) for item in body["items"])
        return LaunchPlan(scratch_bytes=tuple(map(int, body["scratch"])), items=items)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise WireError(f"this is no plan: {error!r}") from error


def _pack_item(item: Launch | Transfer, blobs: list[Data]) -> dict[str, Any]:
    if isinstance(item, Launch):
        return {
            "kernel": item.kernel,
            "symbol": item.symbol,
            "line": item.line,
            "grid": item.grid,
            "block": item.block,
            "shared": item.dynamic_shared,
            "shared_limit": item.shared_limit,
            "arguments": [
                {
                    "data": a.data.hex(),
                    "pointers": [[at, place.buffer, place.offset] for at, place in a.pointers],
                }
                for a in item.arguments
            ],
        }
    packed: dict[str, Any] = {"to": [item.to.buffer, item.to.offset], "count": item.count, "fill": item.fill}
    if isinstance(item.source, Place):
        packed["from"] = [item.source.buffer, item.source.offset]
    elif item.source is not None:
        packed["blob"] = len(blobs)
        blobs.append(item.source)
    return packed


def _unpack_item(item: dict[str, Any], blobs: Sequence[memoryview]) -> Launch | Transfer:
    if "symbol" in item:
        arguments = tuple(
            Argument(
                bytes.fromhex(a["data"]),
                tuple((int(at), Place(str(buffer), int(offset))) for at, buffer, offset in a["pointers"]),
            )
            for a in item["arguments"]
        )
        line = None if item["line"] is None else int(item["line"])
        limit = None if item["shared_limit"] is None else int(item["shared_limit"])
        return Launch(
            str(item["kernel"]),
            _triple(item["grid"]),
            _triple(item["block"]),
            int(item["shared"]),
            line,
            str(item["symbol"]),
            arguments,
            limit,
        )
    source: Place | bytes | None = None
    if "from" in item:
        source = Place(str(item["from"][0]), int(item["from"][1]))
    elif "blob" in item:
        source = bytes(blobs[int(item["blob"])])
    to = Place(str(item["to"][0]), int(item["to"][1]))
    return Transfer(to, int(item["count"]), source, int(item["fill"]))


def _triple(value: Sequence[int]) -> Triple:
    x, y, z = value
    return int(x), int(y), int(z)


def pack_buffers(buffers: Sequence[Buffer]) -> list[dict[str, Any]]:
    """The buffers' shapes and roles, without their data."""
    return [{"name": b.name, "rows": b.rows, "width": b.width, "role": b.role} for b in buffers]


def unpack_buffers(body: Sequence[dict[str, Any]]) -> tuple[Buffer, ...]:
    try:
        return tuple(Buffer(str(b["name"]), int(b["rows"]), int(b["width"]), str(b["role"])) for b in body)
    except (KeyError, TypeError, ValueError) as error:
        raise WireError(f"these are no buffers: {error!r}") from error


def pack_data(buffers: Sequence[Buffer]) -> list[Data]:
    """The data of the buffers that are fed, in order, as blobs. Raises ValueError for a wrong size."""
    blobs: list[Data] = []
    for buffer in buffers:
        if is_fed(buffer):
            if buffer.data is None:
                raise ValueError(f"buffer {buffer.name} has no data")
            data = np.ascontiguousarray(buffer.data, dtype=_FLOAT)
            if data.size != buffer.rows * buffer.width:
                raise ValueError(
                    f"buffer {buffer.name} holds {data.size} values, not {buffer.rows} x {buffer.width}"
                )
            blobs.append(data.reshape(-1).view(np.uint8).data)
    return blobs


def unpack_outputs(buffers: Sequence[Buffer], blobs: Sequence[memoryview]) -> dict[str, Floats]:
    """The arrays [rows, width] of the buffers that are written, from an answer's blobs. Raises WireError."""
    written = [buffer for buffer in buffers if is_written(buffer)]
    if len(blobs) != len(written):
        raise WireError(f"the worker sent {len(blobs)} outputs, not {len(written)}")
    outputs: dict[str, Floats] = {}
    for buffer, blob in zip(written, blobs, strict=True):
        if len(blob) != byte_size(buffer):
            raise WireError(f"the output {buffer.name} has {len(blob)} bytes, not {byte_size(buffer)}")
        outputs[buffer.name] = np.frombuffer(blob, dtype=_FLOAT).reshape(buffer.rows, buffer.width)
    return outputs


def is_fed(buffer: Buffer) -> bool:
    return buffer.role != "out"


def is_written(buffer: Buffer) -> bool:
    return buffer.role in ("out", "inout")


def byte_size(buffer: Buffer) -> int:
    return buffer.rows * buffer.width * _FLOAT.itemsize
