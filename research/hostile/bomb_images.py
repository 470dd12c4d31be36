"""Images that ask for much: pixels that cost nothing to write down, lists without an end."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

from PIL import Image

from research.hostile.bomb_parts import riff


def _jpeg(width: int, height: int, **options: bool) -> bytes:
    return saved(Image.new("RGB", (width, height), (90, 120, 150)), "JPEG", **options)


def saved(image: Image.Image, form: str, **options: bool) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def jpeg_scans(path: Path) -> None:
    """The last scan of a progressive image, 2,000 times."""
    data = _jpeg(1600, 1600, progressive=True)
    start, end = data.rindex(b"\xff\xda"), data.rindex(b"\xff\xd9")
    path.write_bytes(data[:end] + data[start:end] * 2_000 + data[end:])


def jpeg_padding(path: Path) -> None:
    data = _jpeg(64, 64)
    path.write_bytes(data[:2] + b"\xff" * 50_000_000 + data[2:])


def jpeg_exif(path: Path) -> None:
    """An IFD of 65,535 entries, the next one of which is itself."""
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, 8) for tag in range(5_400))
    tiff = b"II*\0\x08\0\0\0" + struct.pack("<H", 65_535) + entries + struct.pack("<I", 8)
    block = b"Exif\0\0" + tiff
    data = _jpeg(64, 64)
    path.write_bytes(data[:2] + b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block + data[2:])


def jpeg_200_megapixels(path: Path) -> None:
    path.write_bytes(_jpeg(16_320, 12_240))


def jpeg_200_progressive(path: Path) -> None:
    path.write_bytes(_jpeg(16_320, 12_240, progressive=True))


def _png_chunks(header: tuple[int, ...], *chunks: tuple[bytes, bytes]) -> bytes:
    whole = ((b"IHDR", struct.pack(">IIBBBBB", *header)), *chunks, (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in whole
    )


def _zeros(width: int, height: int) -> bytes:
    squeeze = zlib.compressobj()
    row = bytes(1 + 3 * width)
    return b"".join(squeeze.compress(row) for _ in range(height)) + squeeze.flush()


def png_tall(path: Path) -> None:
    width, height = 1_200, 100_000
    data = (b"IDAT", _zeros(width, height))
    path.write_bytes(_png_chunks((width, height, 8, 2, 0, 0, 0), data))


def png_texts(path: Path, many: int) -> None:
    texts = [(b"tEXt", b"key %d\0value" % number) for number in range(many)]
    path.write_bytes(_png_chunks((8, 8, 8, 2, 0, 0, 0), *texts, (b"IDAT", _zeros(8, 8))))


def png_squeezed_text(path: Path) -> None:
    texts = [(b"zTXt", b"a%d\0\0" % n + zlib.compress(bytes(1_000_000))) for n in range(300)]
    path.write_bytes(_png_chunks((8, 8, 8, 2, 0, 0, 0), *texts, (b"IDAT", _zeros(8, 8))))


def png_squeezed_profile(path: Path) -> None:
    profile = (b"iCCP", b"a\0\0" + zlib.compress(bytes(500_000_000)))
    path.write_bytes(_png_chunks((8, 8, 8, 2, 0, 0, 0), profile, (b"IDAT", _zeros(8, 8))))


def png_frames(path: Path) -> None:
    """An animation of 100,000 frames of one pixel."""
    row = zlib.compress(bytes(4))

    def control(number: int) -> tuple[bytes, bytes]:
        return b"fcTL", struct.pack(">IIIIIHHBB", number, 1, 1, 0, 0, 1, 25, 0, 0)

    chunks = [(b"acTL", struct.pack(">II", 100_000, 0)), control(0), (b"IDAT", row)]
    for number in range(1, 100_000):
        chunks += [control(2 * number - 1), (b"fdAT", struct.pack(">I", 2 * number) + row)]
    path.write_bytes(_png_chunks((1, 1, 8, 2, 0, 0, 0), *chunks))


def _webp_of(width: int, height: int) -> bytes:
    """Transparent pixels, lossless, in 34 bytes."""
    size = struct.pack("<I", (width - 1) | (height - 1) << 14 | 1 << 28)
    body = b"VP8L" + struct.pack("<I", 13) + b"\x2f" + size
    body += bytes.fromhex("071011118888fe07") + b"\0"
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def webp_large(path: Path) -> None:
    path.write_bytes(_webp_of(10_950, 10_950))


def _webp(flags: int, width: int, height: int, *chunks: tuple[bytes, bytes]) -> bytes:
    sizes = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return riff(b"WEBP", (b"VP8X", bytes([flags, 0, 0, 0]) + sizes), *chunks)


def webp_frames(path: Path) -> None:
    """An animation of 100,000 frames on a canvas of 4,000 by 4,000."""
    pixel = saved(Image.new("RGB", (1, 1)), "WEBP")[12:]
    frame = bytes(6) + bytes(6) + (40).to_bytes(3, "little") + b"\0" + pixel
    frames = [(b"ANIM", bytes(6)), *[(b"ANMF", frame)] * 100_000]
    path.write_bytes(_webp(2, 4_000, 4_000, *frames))


def webp_chunks(path: Path, many: int) -> None:
    pixel = saved(Image.new("RGB", (8, 8)), "WEBP")
    picture = (pixel[12:16], pixel[20:])
    path.write_bytes(_webp(0, 8, 8, *[(b"none", b"\0\0")] * many, picture))
