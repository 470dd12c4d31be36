"""A file to upload, from a path, bytes or a stream, as base64 that is made while it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pybase64 import b64encode

from palprep.api import Base64Stream
from palprep.media.sources import Source, read_binary
from palprep.values import Kind
from palprep.vocabulary import FileInput

PIECE_BYTES = 3 * 64 * 1024
"""Read, encoded and sent at a time: small enough to stay in a processor's own cache between the
three, which halves their cost. A multiple of three, so that only the last piece is padded."""


def open_upload(file: FileInput) -> Base64Stream:
    """The base64 of ``file``, which is a path, bytes, or a binary file from where it stands. Raises
    :class:`~palprep.errors.FileMissing`, :class:`~palprep.errors.FileUnreadable` or
    :class:`~palprep.errors.UsageError` for what cannot be read,
    :class:`~palprep.errors.OutputUnwritable` without room for a copy of what is not on the disk."""
    source = Source.of(file)
    mime = source.type.mime if source.type.kind is Kind.IMAGE else None
    return Base64Stream(source.name, source.size_bytes, mime, partial(_pieces, source))


def _pieces(source: Source) -> Iterator[bytes]:
    left = source.size_bytes
    with source.open() as file:
        while left > 0 and (piece := read_binary(file, min(left, PIECE_BYTES))):
            left -= len(piece)
            yield b64encode(piece)
        # The service would judge a picture that never was, made of two.
        source.require_unchanged(file)
