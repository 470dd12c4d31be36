"""A file that is given as bytes or as a binary file: put on the disk, where decoders can seek."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from typing_extensions import TypeIs

from palprep.errors import FileMissing, FileUnreadable, OutputUnwritable, UsageError
from palprep.media.facts import UNNAMED
from palprep.vocabulary import FileInput

Given = bytes | bytearray | memoryview | IO[bytes]
"""What is not on the disk."""

_PIECE_BYTES = 1 << 20
_NAMES = (str, os.PathLike)
_BYTES = (bytes, bytearray, memoryview)


def is_file(value: object) -> TypeIs[FileInput]:
    """Whether it is one file: a path, bytes, or what can be read. What is iterated are many."""
    return isinstance(value, (*_NAMES, *_BYTES)) or hasattr(value, "read")


def no_file(value: object) -> UsageError:
    """The error for what can be no file."""
    kind = type(value).__name__
    return UsageError(f"Give a file as a path, as bytes or as a binary file, not as {kind}.")


def on_disk(file: FileInput) -> Path | Given:
    """The path of a file that is on the disk already; bytes and the like as they are.

    A binary file that stands at its beginning, and that its name leads to, is on the disk.
    """
    if isinstance(file, _NAMES):
        return Path(file)
    if isinstance(file, _BYTES):
        return file
    name = getattr(file, "name", None)
    if not isinstance(name, _NAMES):
        return file
    try:
        named, opened = Path(name).stat(), os.fstat(file.fileno())
        whole = os.path.samestat(named, opened) and file.tell() == 0
    except (OSError, ValueError, AttributeError):
        return file
    return Path(name) if whole else file


def given_name(file: FileInput) -> str:
    """What messages call the file: its path or its name, or :data:`UNNAMED`."""
    if isinstance(file, _NAMES):
        return os.fspath(file)
    name = getattr(file, "name", None)
    return name if isinstance(name, str) and name else UNNAMED


def address_of(path: Path) -> str | None:
    """The address that somebody gave in place of a file's path; None for a path.

    A path holds no two slashes in a row: ``http://host`` has become ``http:/host``.
    """
    found = re.fullmatch(r"([a-z][a-z0-9+.-]+):/+(.*)", str(path))
    return f"{found[1]}://{found[2]}" if found else None


def missing(path: Path) -> FileMissing:
    """The error for a path at which there is nothing."""
    address = address_of(path)
    if address is not None:
        return FileMissing(f"{address} is an address, and no file: download it first")
    return FileMissing(f"{path} does not exist; check the path")


def keep(file: Given) -> Path:
    """Write it to a temporary file of its own, which the caller deletes.

    A binary file is read from where it stands. Raises UsageError for one in text mode
    and for what is no file, FileUnreadable when it cannot be read, OutputUnwritable when the disk
    is full.
    """
    if not is_file(file):
        raise no_file(file)
    descriptor, kept = tempfile.mkstemp(prefix="palprep-")
    try:
        with os.fdopen(descriptor, "wb") as copy:
            for piece in _pieces(file):
                _write(copy, piece)
    except BaseException:
        Path(kept).unlink()
        raise
    return Path(kept)


def binary(piece: bytes) -> bytes:
    """What was read of a file. Raises UsageError when it was opened for text."""
    if not isinstance(piece, bytes):
        raise UsageError("The file is in text mode; open it with mode 'rb'.")
    return piece


def _pieces(file: Given) -> Iterator[bytes | bytearray | memoryview]:
    if isinstance(file, _BYTES):
        yield file
        return
    try:
        while piece := binary(file.read(_PIECE_BYTES)):
            yield piece
    except (OSError, ValueError) as error:
        raise FileUnreadable(f"{given_name(file)} cannot be read: {error}") from None


def _write(copy: IO[bytes], content: bytes | bytearray | memoryview) -> None:
    try:
        copy.write(content)
    except OSError as error:
        raise OutputUnwritable(
            f"There is no room for a copy in {tempfile.gettempdir()} ({error.strerror}); free some "
            "space, or name another folder in TMPDIR"
        ) from None
