"""A file to upload, from a path, bytes or a stream, as base64 that is made while it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pybase64 import b64encode

from palprep.api import Base64Stream
from palprep.media.sources import Source, read_binary
from palprep.values import Kind
from palprep.vocabulary import FileInput

PIECE_BYTES = 3 * 64 * 1024
"""Read, encoded and sent at a time: small enough to stay in a processor's own cache between the
three, which halves their cost. A multiple of three, so that only the last piece is padded."""


@dataclass(frozen=True)
class Upload(Base64Stream):
    """A file that can be read more than once: each time from its first byte on."""

    name: str
    size: int
    source: Source

    @property
    def mime(self) -> str | None:
        """The MIME type by content; None when it is not an image that the service takes."""
        found = self.source.type
        return found.mime if found.kind is Kind.IMAGE else None

    def __iter__(self) -> Iterator[bytes]:
        left = self.size
        with self.source.open() as file:
            while left > 0 and (piece := read_binary(file, min(left, PIECE_BYTES))):
                left -= len(piece)
                yield b64encode(piece)
            # The service would judge a picture that never was, made of two.
            self.source.require_unchanged(file)


def open_upload(file: FileInput) -> Upload:
    """The bytes of ``file``, which is a path, bytes, or a binary file from where it stands. Raises
    :class:`~palprep.errors.FileMissing`, :class:`~palprep.errors.FileUnreadable` or
    :class:`~palprep.errors.UsageError` for what cannot be read,
    :class:`~palprep.errors.OutputUnwritable` without room for a copy of what is not on the disk."""
    source = Source.of(file)
    return Upload(source.name, source.size_bytes, source)
