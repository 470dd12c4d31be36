"""Small files that ask a decoder for much."""

from __future__ import annotations

import struct
import zlib

WEBP_120_MEGAPIXELS = bytes.fromhex(
    "524946461a000000574542505650384c0d0000002fc56ab11a071011118888fe0700"
)
"""A lossless WebP of 10950 by 10950 transparent pixels, in 34 bytes."""


def png_of_zeros(width: int, height: int) -> bytes:
    """A black PNG in RGB: a thousandth of its pixels in size."""
    row, squeeze = bytes(1 + 3 * width), zlib.compressobj()
    rows = b"".join(squeeze.compress(row) for _ in range(height)) + squeeze.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
