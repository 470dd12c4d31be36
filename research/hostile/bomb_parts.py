"""What the files that ask for much are built from."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from research.hostile.fuzz_seeds import encoded


def base(path: Path, *, sound: str, picture: str | None = None) -> bytes:
    """A small honest file of the same format."""
    plain = path.with_name("plain" + path.suffix)
    data = encoded(plain, sound=sound, picture=picture).read_bytes()
    plain.unlink()
    return data


def riff(form: bytes, *chunks: tuple[bytes, bytes]) -> bytes:
    body = b"".join(
        name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2) for name, data in chunks
    )
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + form + body


def names(many: int) -> Iterator[bytes]:
    """Names of four letters, all different."""
    for number in range(many):
        yield bytes(65 + number // 26**place % 26 for place in range(4))
