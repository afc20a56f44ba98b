"""An encoder of PNG for small pictures: 8 bits a channel, RGB, no filter."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB = 2  # the colour type


def encode_png(image: NDArray[np.uint8]) -> bytes:
    """An image [height, width, 3] as the bytes of a PNG file."""
    height, width, channels = image.shape
    if channels != 3 or image.dtype != np.uint8:
        raise ValueError(f"an image is [height, width, 3] of uint8, not {image.shape} of {image.dtype}")
    unfiltered = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each line begins with its filter: none
    unfiltered[:, 1:] = image.reshape(height, 3 * width)
    head = struct.pack(">IIBBBBB", width, height, 8, _RGB, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(unfiltered.tobytes(), 9)), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
