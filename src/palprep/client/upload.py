"""A file to upload, from a path, bytes or a stream, as base64 that is made while it is sent."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from io import BytesIO
from typing import IO, cast

from pybase64 import b64encode

from palprep.api import Base64Stream
from palprep.api.records import MAX_IMAGE_BYTES
from palprep.errors import FileUnreadable
from palprep.media.sources import (
    HEAD_BYTES,
    Source,
    at_its_end,
    no_file,
    position_of,
    read_binary,
    recognise_head,
)
from palprep.values import Kind
from palprep.vocabulary import FileInput

PIECE_BYTES = 3 * 64 * 1024
"""Read, encoded and sent at a time: small enough to stay in a processor's own cache between the
three, which halves their cost. A multiple of three, so that only the last piece is padded."""


@dataclass(frozen=True)
class Upload(Base64Stream):
    """Bytes that can be read more than once: ``open`` starts again from the first one."""

    name: str
    size: int
    open: Callable[[], AbstractContextManager[IO[bytes]]]

    @cached_property
    def mime(self) -> str | None:
        """The MIME type by content; None when it is not an image that the service takes."""
        with self.open() as file:
            found = recognise_head(self._read(file, min(self.size, HEAD_BYTES)))
        return found.mime if found.kind is Kind.IMAGE else None

    def __iter__(self) -> Iterator[bytes]:
        with self.open() as file:
            left = self.size
            while left > 0:
                piece = self._read(file, min(left, PIECE_BYTES))
                left -= len(piece)
                yield b64encode(piece)

    def _read(self, file: IO[bytes], size: int) -> bytes:
        pieces = []
        while size > 0:
            piece = read_binary(file, size)
            if not piece:
                raise FileUnreadable(f"{self.name}: became shorter while it was being sent.")
            pieces.append(piece)
            size -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


@contextmanager
def _unchanged(source: Source) -> Iterator[IO[bytes]]:
    """The file to read. Raises FileUnreadable at the end where something wrote to it meanwhile: the
    service would judge a picture that never was, made of two."""
    with source.open() as file:
        yield file
        source.require_unchanged(file)


class _Reader:
    """Reads an open file from ``start`` on, and leaves it standing there."""

    def __init__(self, file: IO[bytes], start: int, lock: threading.Lock) -> None:
        self._file, self._start, self._lock = file, start, lock
        self._at = start

    def read(self, size: int) -> bytes:
        with self._lock:
            self._file.seek(self._at)
            try:
                piece = read_binary(self._file, size)
            finally:
                self._file.seek(self._start)
        self._at += len(piece)
        return piece


def open_upload(file: FileInput) -> Upload:
    """The bytes of ``file``, which is a path, bytes, or a binary file from where it stands. Raises
    :class:`~palprep.errors.FileMissing`, :class:`~palprep.errors.FileUnreadable` or
    :class:`~palprep.errors.UsageError` for what cannot be read."""
    if isinstance(file, str | os.PathLike):
        source = Source.of(file)
        return Upload(source.name, source.size_bytes, partial(_unchanged, source))
    if isinstance(file, bytes | bytearray | memoryview):
        content = bytes(file)
        return Upload("the image", len(content), lambda: BytesIO(content))
    if not hasattr(file, "read"):
        raise no_file(file)
    stood = position_of(file)
    start = stood or 0
    if stood is not None:
        size = file.seek(0, os.SEEK_END) - start
        if start and size <= 0:
            raise at_its_end(file)
        file.seek(start)
    else:
        # A pipe is read once, up to the first piece beyond what the service takes.
        pipe, file = file, BytesIO()
        while (size := file.tell()) <= MAX_IMAGE_BYTES:
            if not (piece := read_binary(pipe, PIECE_BYTES)):
                break
            file.write(piece)

    # Others may read it meanwhile: another call, or an attempt that was given up. So each reader
    # has a position of its own, and between two pieces the file stands where it stood.
    lock = threading.Lock()
    return Upload(
        "the image", size, lambda: nullcontext(cast("IO[bytes]", _Reader(file, start, lock)))
    )
