"""Recordings, and videos in AVI, that ask for much: lists without an end, hours of nothing."""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from research.hostile.bomb_parts import base, names, riff


def _fmt(rate: int = 16_000) -> tuple[bytes, bytes]:
    return b"fmt ", struct.pack("<HHIIHH", 1, 1, rate, 2 * rate, 2, 16)


def _info(many: int) -> tuple[bytes, bytes]:
    tags = b"".join(name + struct.pack("<I", 2) + b"a\0" for name in names(many))
    return b"LIST", b"INFO" + tags


def wav_tags(path: Path, many: int) -> None:
    path.write_bytes(riff(b"WAVE", _fmt(), _info(many), (b"data", bytes(32_000))))


def aiff_tags(path: Path, many: int) -> None:
    frames = b"".join(b"TXXX" + struct.pack(">IHB", 3, 0, 3) + b"a\0" for _ in range(many))
    length = len(frames)
    size = bytes(length >> shift & 0x7F for shift in (21, 14, 7, 0))
    rate = bytes.fromhex("400CFA00000000000000")  # 16,000 as a float of 80 bits
    chunks = {
        b"COMM": struct.pack(">HIH", 1, 16_000, 16) + rate,
        b"ID3 ": b"ID3\3\0\0" + size + frames,
        b"SSND": bytes(8 + 32_000),
    }
    body = b"".join(
        name + struct.pack(">I", len(data)) + data + bytes(len(data) % 2)
        for name, data in chunks.items()
    )
    path.write_bytes(b"FORM" + struct.pack(">I", 4 + len(body)) + b"AIFF" + body)


def caf_strings(path: Path, many: int) -> None:
    strings = b"".join(name + b"\0a\0" for name in names(many))
    path.write_bytes(_caf((b"info", struct.pack(">I", many) + strings)))


def caf_packets(path: Path) -> None:
    path.write_bytes(_caf((b"pakt", struct.pack(">qqii", 80_000_000, 80_000_000, 0, 0))))


def _caf(*chunks: tuple[bytes, bytes]) -> bytes:
    described = struct.pack(">d4sIIIII", 16_000.0, b"lpcm", 2, 2, 1, 1, 16)
    everything = ((b"desc", described), *chunks, (b"data", bytes(4 + 32_000)))
    return b"caff\0\1\0\0" + b"".join(
        name + struct.pack(">q", len(data)) + data for name, data in everything
    )


def wav_chunks(path: Path) -> None:
    chunks = [(b"junk", b"")] * 1_000_000
    path.write_bytes(riff(b"WAVE", _fmt(), *chunks, (b"data", bytes(32_000))))


def wav_cues(path: Path, many: int) -> None:
    points = b"".join(struct.pack("<II4sIII", n, n, b"data", 0, 0, n) for n in range(many))
    cues = (b"cue ", struct.pack("<I", many) + points)
    labels = b"".join(b"labl" + struct.pack("<II", 6, n) + b"a\0" for n in range(many))
    data = (b"data", bytes(2 * many))
    path.write_bytes(riff(b"WAVE", _fmt(), cues, data, (b"LIST", b"adtl" + labels)))


def wav_2_gb(path: Path) -> None:
    """Eleven days of silence at 1 kHz; the disk holds next to none of it."""
    size = 2_000_000_000
    head = riff(b"WAVE", _fmt(1_000), (b"data", b""))
    with path.open("wb") as file:
        file.write(head[:4] + struct.pack("<I", size + 36) + head[8:-4] + struct.pack("<I", size))
        file.truncate(len(head) + size)


def mp3_10_hours(path: Path) -> None:
    frames = base(path, sound="libmp3lame")
    start = frames.index(b"\xff\xfb", 2_000)
    with path.open("wb") as file:
        file.write(frames)
        for _ in range(36_000 * 2):
            file.write(frames[start:])


def mp3_id3(path: Path, many: int) -> None:
    texts = [b"\0name %d\0value" % number for number in range(many)]
    frames = b"".join(b"TXXX" + len(text).to_bytes(4, "big") + b"\0\0" + text for text in texts)
    size = bytes(len(frames) >> shift & 0x7F for shift in (21, 14, 7, 0))
    path.write_bytes(b"ID3\3\0\0" + size + frames + base(path, sound="libmp3lame"))


def _comments(many: int) -> bytes:
    texts = [b"name%d=a" % number for number in range(many)]
    listed = b"".join(struct.pack("<I", len(text)) + text for text in texts)
    return struct.pack("<I", 1) + b"a" + struct.pack("<I", many) + listed


def flac_comments(path: Path, many: int) -> None:
    data = base(path, sound="flac")
    comments = _comments(many)
    block = b"\4" + len(comments).to_bytes(3, "big") + comments
    path.write_bytes(data[:42] + block + data[42:])


def flac_behind_id3(path: Path, many: int) -> None:
    flac_comments(path, many)
    path.write_bytes(b"ID3\3\0\0\0\0\0\0" + path.read_bytes())


def _ogg_pages(serial: bytes, packet: bytes) -> Iterator[bytes]:
    """Pages of one packet (RFC 3533), numbered from 1 on."""
    laced = [255] * (len(packet) // 255) + [len(packet) % 255]
    at = 0
    for number, start in enumerate(range(0, len(laced), 255)):
        part = bytes(laced[start : start + 255])
        body = packet[at : at + sum(part)]
        at += len(body)
        head = b"OggS\0" + bytes([start > 0]) + (b"\xff" * 8 if part[-1] == 255 else bytes(8))
        page = head + serial + struct.pack("<II", number + 1, 0) + bytes([len(part)]) + part + body
        yield page[:22] + struct.pack("<I", _ogg_crc(page)) + page[26:]


def _ogg_crc(page: bytes) -> int:
    value = 0
    for byte in page:
        value = (value << 8 & 0xFFFFFFFF) ^ _OGG_TABLE[value >> 24 ^ byte]
    return value


def _ogg_entry(byte: int) -> int:
    value = byte << 24
    for _ in range(8):
        value = (value << 1 ^ 0x04C11DB7) & 0xFFFFFFFF if value >> 31 else value << 1
    return value


_OGG_TABLE = tuple(_ogg_entry(byte) for byte in range(256))


def opus_comments(path: Path, many: int) -> None:
    data = base(path, sound="libopus")
    second, third = (found.start() for found in itertools.islice(_pages(data), 1, 3))
    pages = b"".join(_ogg_pages(data[14:18], b"OpusTags" + _comments(many)))
    path.write_bytes(data[:second] + pages + data[third:])


def ogg_flac_comments(path: Path, many: int) -> None:
    data = base(path, sound="flac")
    second, third = (found.start() for found in itertools.islice(_pages(data), 1, 3))
    comments = _comments(many)
    block = b"\x84" + len(comments).to_bytes(3, "big") + comments
    pages = b"".join(_ogg_pages(data[14:18], block))
    path.write_bytes(data[:second] + pages + data[third:])


def _pages(data: bytes) -> Iterator[re.Match[bytes]]:
    return re.finditer(rb"OggS\0", data)


def avi_tags(path: Path, many: int) -> None:
    data = base(path, sound="mp2", picture="mpeg4")
    name, tags = _info(many)
    listed = name + struct.pack("<I", len(tags)) + tags
    at = data.index(b"movi") - 8
    path.write_bytes(
        data[:4] + struct.pack("<I", len(data) + len(listed) - 8) + data[8:at] + listed + data[at:]
    )


def avi_streams(path: Path) -> None:
    data = base(path, sound="mp2", picture="mpeg4")
    start = data.index(b"strl") - 8
    stream = data[start : start + 8 + int.from_bytes(data[start + 4 : start + 8], "little")]
    header = data.index(b"hdrl") - 8
    end = header + 8 + int.from_bytes(data[header + 4 : header + 8], "little")
    body = data[header + 8 : end] + stream * 10_000
    path.write_bytes(data[:header] + b"LIST" + struct.pack("<I", len(body)) + body + data[end:])
