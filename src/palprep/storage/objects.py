"""An object that lies elsewhere, and how it becomes a file: all of it, or nothing."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from palprep.errors import OutputUnwritable, StorageError

GoOn = Callable[[], object]
"""Called again and again during a transfer. What it raises ends the transfer."""


class Stored(NamedTuple):
    """An object: its name, its size, and a tag that changes with its content."""

    name: str
    size_bytes: int
    etag: str | None


class Fetched(NamedTuple):
    """A fetched object: its SHA-256 in hex, its size, and its tag."""

    sha256: str
    size_bytes: int
    etag: str | None


def written(pieces: Iterable[bytes], to: Path, go_on: GoOn | None = None) -> tuple[str, int]:
    """Write the pieces into the file ``to``, or replace it; their SHA-256 in hex, and their size.

    The file appears when all of it has arrived. Raises OutputUnwritable when the disk is
    full, and what ``go_on`` raises.
    """
    digest, size = hashlib.sha256(), 0
    # Two threads, or a worker and its successor, may fetch the same object at once.
    part = to.with_name(f".palprep-{os.getpid()}-{id(digest):x}.part")
    try:
        with part.open("xb") as file:
            for piece in pieces:
                if go_on is not None:
                    go_on()
                digest.update(piece)
                size += len(piece)
                file.write(piece)
        part.replace(to)
    except OSError as error:
        raise OutputUnwritable(
            f"{to.parent} cannot be written: {error.strerror}; free some space, or choose "
            "another folder"
        ) from None
    finally:
        part.unlink(missing_ok=True)
    return digest.hexdigest(), size


def too_large(shown: str, max_bytes: int) -> StorageError:
    """The error for a file that is larger than it may be."""
    return StorageError(f"{shown} has more than {max_bytes:,} bytes, and is not fetched")


def without_secrets(url: str) -> str:
    """A link without user, password, query and fragment: what may be shown and recorded."""
    try:
        parts = urlsplit(url)
    except ValueError:  # It is shown in a message about just that.
        return url.partition("?")[0].rpartition("@")[2]
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query="", fragment="").geturl()
