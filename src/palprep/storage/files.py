"""Files that nobody but the user can read, and objects that become files: whole, or not at all.

Everything that palprep writes about people is made private here, whatever the umask. A mask of the
process is never changed: a program that uses palprep may have threads of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from palprep.errors import OutputUnwritable, StorageError, UsageError

FILE_MODE = 0o600
_FOLDER_MODE = 0o700
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/")
"""How an address begins as a path, which holds no two slashes side by side. A drive has one letter.
"""


def private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing. One that is there stays as it is.

    Raises OSError; UsageError for the address of a bucket or a server.
    """
    if _ADDRESS.match(folder.as_posix()):
        raise UsageError(
            f"{folder.as_posix().replace(':/', '://', 1)} is an address, and what is written goes "
            "into a folder of this machine: name one. --publish-to and --store take buckets"
        )
    try:
        folder.mkdir(_FOLDER_MODE)
    except FileNotFoundError:
        private_folder(folder.parent)
        private_folder(folder)
    except OSError:
        if not folder.is_dir():
            raise


def opener(path: str, flags: int) -> int:
    """For the ``opener`` of ``open``: a file that is made is private."""
    return os.open(path, flags, FILE_MODE)


def private_file(path: Path) -> None:
    """Make an empty file, or make private the one that is there. What others own, and what is no
    file, such as ``/dev/stderr``, stays as it is.

    Raises OSError where it cannot be made.
    """
    if not path.exists():
        os.close(opener(os.fspath(path), os.O_CREAT | os.O_WRONLY))
    with contextlib.suppress(PermissionError):
        mode = path.stat().st_mode
        if stat.S_ISREG(mode) and stat.S_IMODE(mode) != FILE_MODE:
            path.chmod(FILE_MODE)


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
        with open(part, "xb", opener=opener) as file:
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
