"""The bytes of an image, from wherever they are, as base64 that is made while it is sent."""

from __future__ import annotations

import os
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO

import anyio.to_thread
from pybase64 import b64encode

from palprep.api.fields import MAX_IMAGE_BASE64_CHARS, ImageMime
from palprep.errors import FileMissing, FileUnreadable, UsageError

Image = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]
"""A path, the file's bytes, or a binary file from where it stands."""

MAX_IMAGE_BYTES = MAX_IMAGE_BASE64_CHARS // 4 * 3
PIECE_BYTES = 3 * 512 * 1024
"""Read at a time; a multiple of three, so that only the last piece is padded."""
_HEAD_BYTES = 64


@dataclass(frozen=True)
class Source:
    """Bytes that can be read more than once. ``size`` is in bytes."""

    name: str
    size: int
    open: Callable[[], AbstractContextManager[IO[bytes]]]

    def head(self) -> bytes:
        """The first bytes."""
        with self.open() as file:
            return _binary(file.read(_HEAD_BYTES))


@dataclass(frozen=True)
class ImageBody:
    """A body that encodes its image while it is sent; see :class:`palprep.api.call.Stream`."""

    before: bytes
    source: Source
    after: bytes

    @property
    def length(self) -> int:
        """Of the whole body, in bytes."""
        return len(self.before) + base64_chars(self.source.size) + len(self.after)

    def __iter__(self) -> Iterator[bytes]:
        yield self.before
        with self.source.open() as file:
            left = self.source.size
            while left > 0:
                piece = _read(file, self.source, min(left, PIECE_BYTES))
                left -= len(piece)
                yield b64encode(piece)
        yield self.after

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.before
        with self.source.open() as file:
            left = self.source.size
            while left > 0:
                size = min(left, PIECE_BYTES)
                piece = await anyio.to_thread.run_sync(_read, file, self.source, size)
                left -= len(piece)
                yield b64encode(piece)
        yield self.after

    def __repr__(self) -> str:
        return f"<image of {self.source.size} bytes>"


def base64_chars(size: int) -> int:
    """Characters of ``size`` bytes in base64 without line breaks."""
    return 4 * ((size + 2) // 3)


def image_mime(head: bytes) -> ImageMime | None:
    """The type among those the service takes, from a file's first 32 bytes or more."""
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp":
        # ISO/IEC 23008-12: hei* and hev* are HEVC-coded; mif1 and msf1 leave the codec to
        # the compatible brands, which follow the major brand and its version.
        end = min(int.from_bytes(head[:4], "big"), len(head))
        brands = [head[8:12], *(head[i : i + 4] for i in range(16, end - 3, 4))]
        if any(brand in _HEIC_BRANDS for brand in brands) and b"avif" not in brands:
            return "image/heic"
        if any(brand in {b"mif1", b"msf1"} for brand in brands) and b"avif" not in brands:
            return "image/heif"
    return None


_HEIC_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"}


def source(image: Image) -> Source:
    """Where the bytes of ``image`` come from.

    Raises FileMissing, FileUnreadable or UsageError for what cannot be read.
    """
    if isinstance(image, str | os.PathLike):
        return _from_path(Path(image))
    if isinstance(image, bytes | bytearray | memoryview):
        view = memoryview(image).cast("B")
        return Source("the image", len(view), lambda: _Window(view))
    if hasattr(image, "read"):
        return _from_file(image)
    raise UsageError(
        f"An image is given as a path, as bytes or as a binary file, not as {type(image).__name__}."
    )


def _from_path(path: Path) -> Source:
    try:
        size = path.stat().st_size
        with path.open("rb"):
            pass
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise FileMissing(f"{path}: there is no such file. Check the path.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileUnreadable(f"{path}: cannot be read ({reason}).") from None
    return Source(path.name, size, lambda: path.open("rb"))


def _from_file(file: IO[bytes]) -> Source:
    try:
        start = file.tell()
        size = file.seek(0, os.SEEK_END) - start
    except (OSError, AttributeError):
        return _spooled(file)

    def again() -> AbstractContextManager[IO[bytes]]:
        file.seek(start)
        return nullcontext(file)

    return Source("the image", size, again)


def _spooled(file: IO[bytes]) -> Source:
    """A pipe is read once, on to disk, up to one byte more than the service takes."""
    held: IO[bytes] = SpooledTemporaryFile(max_size=PIECE_BYTES)  # noqa: SIM115 -- outlives
    size = 0
    while size <= MAX_IMAGE_BYTES and (piece := file.read(PIECE_BYTES)):
        size += held.write(_binary(piece))

    def again() -> AbstractContextManager[IO[bytes]]:
        held.seek(0)
        return nullcontext(held)

    spooled = Source("the image", size, again)
    weakref.finalize(spooled, held.close)
    return spooled


class _Window(BytesIO):
    """Reads a buffer without copying it whole."""

    def __init__(self, view: memoryview) -> None:
        super().__init__()
        self._view = view
        self._at = 0

    def read(self, size: int | None = -1) -> bytes:
        end = len(self._view) if size is None or size < 0 else self._at + size
        piece = bytes(self._view[self._at : end])
        self._at += len(piece)
        return piece


def _binary(piece: bytes) -> bytes:
    if not isinstance(piece, bytes):
        raise UsageError("The image's file is in text mode; open it with mode 'rb'.")
    return piece


def _read(file: IO[bytes], source: Source, size: int) -> bytes:
    pieces = []
    while size > 0:
        piece = file.read(size)
        if not piece:
            raise FileUnreadable(f"{source.name}: became shorter while it was being sent.")
        pieces.append(_binary(piece))
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
