"""Files whose headers keep a reader busy: the same bytes again, and lists in lists."""

from __future__ import annotations

import io
import itertools
import struct
import zlib
from pathlib import Path

import pillow_heif
from PIL import Image

from research.hostile.bomb_boxes import box, element
from research.hostile.bomb_images import saved
from research.hostile.bomb_parts import base, riff

_FTYP = box(b"ftyp", b"isom", bytes(4), b"isommp42")
_MDAT = box(b"mdat", bytes(100))
_MIB = 1 << 20
_SEGMENT, _CLUSTER = b"\x18\x53\x80\x67", b"\x1f\x43\xb6\x75"


def _size(length: int) -> bytes:
    return (length | 1 << 56).to_bytes(8, "big")


def _track(number: int, *more: bytes) -> bytes:
    head = box(b"tkhd", struct.pack(">IIII", 7, 0, 0, number), bytes(68))
    medium = box(b"mdhd", struct.pack(">IIIII", 0, 0, 0, 48_000, 96_000), bytes(4))
    return box(
        b"trak", head, *more, box(b"mdia", medium, box(b"hdlr", bytes(8), b"soun", bytes(13)))
    )


def _movie(*parts: bytes) -> bytes:
    head = box(b"mvhd", struct.pack(">IIIII", 0, 0, 0, 1000, 2000), bytes(80))
    return _FTYP + _MDAT + box(b"moov", head, *parts)


def edits_of_tracks(path: Path, many: int) -> None:
    """57 tracks, with 1 MiB of edits each where there are ``many``."""
    edits = struct.pack(">IIHH", 1_000, 0, 1, 0) * (many * _MIB // 12 // 200_000)
    listed = box(b"edts", box(b"elst", struct.pack(">II", 0, len(edits) // 12), edits))
    path.write_bytes(_movie(*(_track(number, listed) for number in range(1, 58))))


def empty_id3(path: Path, many: int) -> None:
    tags = b"ID3\4\0\0\0\0\0\0" * (10 * many)
    path.write_bytes(tags + base(path, sound="libmp3lame"))


def id3_padding(path: Path, many: int) -> None:
    """A single tag of padding: 256 MB of nothing, as far as its header can say."""
    size = min(many * 1_300, (1 << 28) - 1)
    said = bytes(size >> shift & 0x7F for shift in (21, 14, 7, 0))
    sound = base(path, sound="libmp3lame")
    with path.open("wb") as file:
        file.write(b"ID3\4\0\0" + said)
        file.seek(10 + size)
        file.write(sound)


def empty_boxes(path: Path, many: int) -> None:
    path.write_bytes(_FTYP + box(b"free") * (12 * many) + _movie(_track(1))[len(_FTYP) :])


def deep_boxes(path: Path, many: int) -> None:
    """Boxes in boxes, 10,000 deep where there are ``many``."""
    inside = b""
    for _ in range(many // 20):
        inside = box(b"udta", inside)
    path.write_bytes(_movie(_track(1), inside))


def sample_times(path: Path, many: int) -> None:
    """A track whose table of times takes 200 MB where there are ``many`` samples times 125."""
    count = many * 125
    times = box(b"stts", struct.pack(">II", 0, count), struct.pack(">II", 1, 1) * count)
    data = base(path, sound="aac")
    at = data.index(b"stts") - 4
    old = int.from_bytes(data[at : at + 4], "big")
    changed = bytearray(data)
    for outer in (b"stbl", b"minf", b"mdia", b"trak", b"moov"):
        start = changed.rindex(outer, 0, at) - 4
        grown = int.from_bytes(changed[start : start + 4], "big") + len(times) - old
        changed[start : start + 4] = grown.to_bytes(4, "big")
    path.write_bytes(bytes(changed[:at]) + times + bytes(changed[at + old :]))


def heic_without_sizes(path: Path) -> None:
    """A HEIC whose boxes with the sizes of its images are renamed."""
    data = io.BytesIO()
    pillow_heif.from_pillow(Image.new("RGB", (64, 64))).save(data, quality=30)
    path.write_bytes(data.getvalue().replace(b"ispe", b"free"))


def _sought(path: Path, many: int, entries: int) -> None:
    """An index that names as many lists of tags, each of which holds all that follow it."""
    opening = b"\x12\x54\xc3\x67" + (1 << 56 | 1 << 40).to_bytes(8, "big")

    def head(start: int) -> bytes:
        seeks = (
            element(
                0x4DBB,
                element(0x53AB, opening[:4]),
                element(0x53AC, struct.pack(">Q", start + number * len(opening))),
            )
            for number in range(entries)
        )
        return element(0x114D9B74, *seeks)

    data = base(path, sound="libopus", picture="libvpx")
    cluster, segment = data.index(_CLUSTER), data.index(_SEGMENT)
    seek = data.index(b"\x11\x4d\x9b\x74", segment)
    before = data[seek + 5 + (data[seek + 4] & 0x7F) : cluster]
    lists = opening * entries + b"\x73\x73\x80" * (many // 2)
    body = head(len(head(0)) + len(before) + len(data[cluster:])) + before + data[cluster:] + lists
    path.write_bytes(data[:segment] + _SEGMENT + _size(len(body)) + body)


def ten_seeks(path: Path, many: int) -> None:
    _sought(path, many, 10)


def many_seeks(path: Path, many: int) -> None:
    _sought(path, many, max(10, many // 100))


def empty_clusters(path: Path, many: int) -> None:
    data = base(path, sound="libopus", picture="libvpx")
    cluster, segment = data.index(_CLUSTER), data.index(_SEGMENT)
    body = data[segment + 12 : cluster] + (_CLUSTER + b"\x80") * (5 * many) + data[cluster:]
    path.write_bytes(data[:segment] + _SEGMENT + _size(len(body)) + body)


def clusters_alone(path: Path, many: int) -> None:
    """Empty clusters in front of the tracks, where the tracks are looked for."""
    data = base(path, sound="libopus", picture="libvpx")
    segment = data.index(_SEGMENT)
    body = (_CLUSTER + b"\x80") * (5 * many) + data[segment + 12 :]
    path.write_bytes(data[:segment] + _SEGMENT + _size(len(body)) + body)


def speex_again(path: Path, many: int) -> None:
    """How a stream of Speex begins, in an Ogg, for 2 MB."""
    _behind_first_page(path, b"Speex   " * (many * 5 // 4))


def opus_tags_again(path: Path, many: int) -> None:
    """How the comments of Opus begin, in an Ogg, for 2 MB, with no comments in them."""
    _behind_first_page(path, b"OpusTags" * (many * 5 // 4))


def _behind_first_page(path: Path, content: bytes) -> None:
    data = base(path, sound="libopus")
    second = data.index(b"OggS", 4)
    path.write_bytes(data[:second] + content + data[second:])


def comment_pages(path: Path, many: int) -> None:
    """Comments of Opus, empty ones, on a page each: a million where there are ``many``."""
    data = base(path, sound="libopus")
    second = data.index(b"OggS", 4)
    packet = b"OpusTags" + bytes(8)
    head = b"OggS\0\0" + bytes(8) + data[14:18] + struct.pack("<II", 1, 0) + b"\1\x10"
    path.write_bytes(data[:second] + (head + packet) * (5 * many) + data[second:])


def wav_lists(path: Path, many: int) -> None:
    form = (b"fmt ", struct.pack("<HHIIHH", 1, 1, 16_000, 32_000, 2, 16))
    lists = [(b"LIST", b"INFO")] * (5 * many)
    path.write_bytes(riff(b"WAVE", form, *lists, (b"data", bytes(32_000))))


def png_chunks(path: Path, many: int) -> None:
    data = saved(Image.effect_noise((64, 64), 60).convert("RGB"), "PNG")
    chunk = struct.pack(">I4sI", 0, b"teSt", zlib.crc32(b"teSt"))
    path.write_bytes(data[:33] + chunk * (5 * many) + data[33:])


def png_pieces(path: Path, many: int) -> None:
    """Pixels in pieces of a byte."""
    data = saved(Image.effect_noise((640, 640), 60).convert("RGB"), "PNG")
    at = data.index(b"IDAT")
    pixels = data[at + 4 : at + 4 + int.from_bytes(data[at - 4 : at], "big")]
    pieces = b"".join(
        struct.pack(">I4sBI", 1, b"IDAT", each, zlib.crc32(b"IDAT" + bytes([each])))
        for each in itertools.islice(pixels, 5 * many)
    )
    path.write_bytes(data[:33] + pieces + data[-12:])


def jpeg_segments(path: Path, many: int) -> None:
    data = saved(Image.effect_noise((64, 64), 60).convert("RGB"), "JPEG")
    path.write_bytes(data[:2] + b"\xff\xfe\x00\x02" * (5 * many) + data[2:])
