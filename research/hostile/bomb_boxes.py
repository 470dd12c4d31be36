"""MPEG-4, Matroska and HEIC files that ask for much: lists without an end, headers that claim."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pillow_heif
from PIL import Image

from research.hostile.bomb_parts import base, names


def heic_items(path: Path) -> None:
    """As many items as the box can number, of which one is an image."""
    small = io.BytesIO()
    pillow_heif.from_pillow(Image.new("RGB", (64, 64))).save(small, quality=30)
    data = small.getvalue()
    at = data.index(b"iinf") - 4
    size = int.from_bytes(data[at : at + 4], "big")
    old = data[at + 8 : at + size]
    count = int.from_bytes(old[4:6], "big")
    more = 65_535 - count
    entries = b"".join(
        box(b"infe", b"\2\0\0\0" + struct.pack(">HH", 100 + number % 60_000, 0) + b"Exif\0")
        for number in range(more)
    )
    listed = box(b"iinf", old[:4] + struct.pack(">H", 65_535) + old[6:] + entries)
    meta = data.index(b"meta") - 4
    grown = int.from_bytes(data[meta : meta + 4], "big") + len(listed) - size
    changed = bytearray(data[:at] + listed + data[at + size :])
    changed[meta : meta + 4] = grown.to_bytes(4, "big")
    path.write_bytes(changed)


def box(kind: bytes, *content: bytes) -> bytes:
    body = b"".join(content)
    return struct.pack(">I4s", len(body) + 8, kind) + body


def _in_moov(path: Path, *more: bytes, sound: str = "aac", picture: str | None = None) -> None:
    """A movie with more boxes at the end of its index, which stands behind the media."""
    data = base(path, sound=sound, picture=picture)
    at = data.rindex(b"moov") - 4
    body = data[at + 8 : at + int.from_bytes(data[at : at + 4], "big")]
    path.write_bytes(data[:at] + box(b"moov", body, *more))


def mp4_keys(path: Path, many: int) -> None:
    """Metadata by keys, as QuickTime has it."""
    keys = [box(b"mdta", b"name %d" % number) for number in range(many)]
    value = box(b"data", struct.pack(">II", 1, 0), b"a")
    items = [box(struct.pack(">I", number + 1), value) for number in range(many)]
    handler = box(b"hdlr", bytes(8), b"mdta", bytes(13))
    listed = box(b"keys", struct.pack(">II", 0, many), *keys)
    _in_moov(path, box(b"meta", handler, listed, box(b"ilst", *items)), picture="libx264")


def mp4_items(path: Path, many: int) -> None:
    """Metadata of iTunes, each of a name of its own."""
    value = box(b"data", struct.pack(">II", 1, 0), b"a")
    parts = (box(b"mean", bytes(4), b"com.a"), value)
    items = [box(b"----", parts[0], box(b"name", bytes(4), b"n%d" % n), value) for n in range(many)]
    handler = box(b"hdlr", bytes(8), b"mdirappl", bytes(9))
    _in_moov(path, box(b"udta", box(b"meta", bytes(4), handler, box(b"ilst", *items))))


def mp4_user_data(path: Path, many: int) -> None:
    texts = [box(b"\xa9" + name[:3], struct.pack(">HH", 1, 0), b"a") for name in names(many)]
    _in_moov(path, box(b"udta", *texts))


def mp4_tracks(path: Path) -> None:
    data = base(path, sound="aac")
    at = data.rindex(b"trak") - 4
    track = data[at : at + int.from_bytes(data[at : at + 4], "big")]
    _in_moov(path, *[track] * 20_000)


def mp4_samples(path: Path) -> None:
    """Half a billion samples of one byte, told in 16."""
    data = bytearray(base(path, sound="aac", picture="libx264"))
    count = 500_000_000
    for kind, content in (
        (b"stsz", struct.pack(">III", 0, 1, count)),
        (b"stts", struct.pack(">IIII", 0, 1, count, 2)),
        (b"stsc", struct.pack(">IIIII", 0, 1, 1, count, 1)),
    ):
        at = data.index(kind) + 4
        data[at : at + len(content)] = content
    path.write_bytes(data)


def mp4_edits(path: Path) -> None:
    """An edit list of a million entries, each of which shows the whole again."""
    data = base(path, sound="aac", picture="libx264")
    edits = struct.pack(">IIHH", 1_000, 0, 1, 0) * 1_000_000
    at = data.index(b"edts") - 4
    old = int.from_bytes(data[at : at + 4], "big")
    listed = box(b"edts", box(b"elst", struct.pack(">II", 0, 1_000_000), edits))
    changed = bytearray(data[:at] + listed + data[at + old :])
    for outer in (b"trak", b"moov"):
        start = changed.rindex(outer, 0, at) - 4
        grown = int.from_bytes(changed[start : start + 4], "big") + len(listed) - old
        changed[start : start + 4] = grown.to_bytes(4, "big")
    path.write_bytes(changed)


def element(number: int, *content: bytes) -> bytes:
    body = b"".join(content)
    return number.to_bytes((number.bit_length() + 7) // 8, "big") + _size(len(body)) + body


def _size(length: int) -> bytes:
    return (length | 1 << 56).to_bytes(8, "big")


def _in_segment(path: Path, *more: bytes) -> None:
    """A Matroska file with more elements before the first cluster."""
    data = base(path, sound="libopus", picture="libvpx")
    cluster = data.index(b"\x1f\x43\xb6\x75")
    segment = data.index(b"\x18\x53\x80\x67")
    # Where things stand is no longer true.
    seek = data.index(b"\x11\x4d\x9b\x74", segment)
    length = 5 + (data[seek + 4] & 0x7F) if data[seek + 4] & 0x80 else 0
    head = data[segment + 12 : seek] + data[seek + length : cluster]
    body = head + b"".join(more) + data[cluster:]
    path.write_bytes(data[:segment] + b"\x18\x53\x80\x67" + _size(len(body)) + body)


def mkv_tags(path: Path, many: int) -> None:
    tags = [
        element(0x67C8, element(0x45A3, b"name %d" % n), element(0x4487, b"a")) for n in range(many)
    ]
    _in_segment(path, element(0x1254C367, element(0x7373, element(0x63C0), *tags)))


def mkv_chapters(path: Path, many: int) -> None:
    chapters = [
        element(0xB6, element(0x73C4, struct.pack(">I", n + 1)), element(0x91, bytes(8)))
        for n in range(many)
    ]
    _in_segment(path, element(0x1043A770, element(0x45B9, *chapters)))


def mkv_attachments(path: Path, many: int) -> None:
    files = [
        element(
            0x61A7,
            element(0x466E, b"a%d" % n),
            element(0x4660, b"text/plain"),
            element(0x465C, b"a"),
            element(0x46AE, struct.pack(">I", n + 1)),
        )
        for n in range(many)
    ]
    _in_segment(path, element(0x1941A469, *files))


def mkv_cues(path: Path, many: int) -> None:
    cues = [
        element(
            0xBB,
            element(0xB3, struct.pack(">I", many - n)),
            element(0xB7, element(0xF7, b"\1"), element(0xF1, struct.pack(">I", n))),
        )
        for n in range(many)
    ]
    _in_segment(path, element(0x1C53BB6B, *cues))


def mkv_tracks(path: Path) -> None:
    track = element(
        0xAE,
        element(0xD7, b"\1"),
        element(0x73C5, b"\1"),
        element(0x83, b"\2"),
        element(0x86, b"A_OPUS"),
    )
    _in_segment(path, element(0x1654AE6B, *[track] * 20_000))
