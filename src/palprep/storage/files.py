"""Files that nobody but the user can read, and that are there whole or not at all.

Everything that palprep writes about people is made private here, whatever the umask, which is never
changed: a program that uses palprep may have threads of its own. Whatever interrupts the writing
(an error, Ctrl-C) leaves no half of a file, and a file of an earlier run stays as it was.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from palprep.errors import OutputUnwritable, StorageError, ToolFailed, UsageError
from palprep.vocabulary import address_of, by_name

FILE_MODE = 0o600
_FOLDER_MODE = 0o700

_WORDS = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "your disk quota is used up; free some space",
    errno.EACCES: "the folder cannot be written to; choose another or change its permissions",
    errno.EPERM: "the folder cannot be written to; choose another or change its permissions",
    errno.EROFS: "the file system is read-only; choose another folder",
    errno.ENOTDIR: "a part of its path is a file, not a folder; choose another folder",
    errno.EEXIST: "a file stands where the folder should be; choose another folder",
    errno.EISDIR: "a folder of that name is in the way; remove it or choose another folder",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
    errno.EFBIG: "the file system takes no file of that size; choose another folder",
}
_WHILE_WRITING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
"""Errors that a write can meet although the file is open already; a read never does."""


is_folder, is_file, is_there = os.path.isdir, os.path.isfile, os.path.exists
"""Whether there is a folder, a file, or anything at all; not for a path that may not be looked at,
that no disk takes, or that leads to itself, where Path's methods raise before Python 3.14."""


def files_below(folder: Path, refused: Callable[[OSError], object] | None = None) -> Iterator[Path]:
    """What is no folder in this one and in those below it, in the order of their names. What is
    hidden is left out. ``refused`` hears of each folder that the system does not open."""
    for where, below, names in os.walk(folder, onerror=refused):
        below[:] = sorted((each for each in below if not each.startswith(".")), key=by_name)
        names.sort(key=by_name)
        # Special files, too: a pipe that is named like media is refused later, with a reason.
        yield from (Path(where, name) for name in names if not name.startswith("."))


def private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing. One that is there stays as it is.

    Raises OSError; UsageError for the address of a bucket or a server, and for a ``~`` that no
    shell has replaced: a folder of that name is hard to remove without the home folder.
    """
    if (address := address_of(folder)) is not None:
        raise UsageError(
            f"{address} is an address, and what is written goes into a folder of this machine: "
            "name one. --publish-to and --store take buckets"
        )
    if folder.name == "~" and not is_there(folder):
        raise UsageError(f"No folder is made as {folder}: write out your home folder in place of ~")
    try:
        folder.mkdir(_FOLDER_MODE)
    except FileNotFoundError:
        if folder == folder.parent:  # A drive that is not there.
            raise
        private_folder(folder.parent)
        folder.mkdir(_FOLDER_MODE, exist_ok=True)
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error)) from None
    except OSError:
        if not is_folder(folder):
            raise


def output_folder(folder: Path) -> None:
    """Make a folder for what is written, as :func:`private_folder`. Raises OutputUnwritable, for
    one that takes no files too."""
    try:
        private_folder(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise unwritable(folder, error) from None


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


@contextlib.contextmanager
def atomic_output(
    target: Path, *, lasting: bool = True, settle: Callable[[Path], object] | None = None
) -> Iterator[Path]:
    """Yield an empty temporary file next to ``target``; rename it to ``target`` at the end.

    The temporary name keeps the target's suffix, so that writers which go by it choose the
    same format, and starts with a dot, so that no glob of the folder takes it for a result.
    Missing folders are made, and both are private to the user. A file that has the name is
    replaced, unless ``settle`` is given: that gives the temporary file its name. For a file that
    can be made again, such as a page, ``lasting`` False does not wait for the disk, and a power cut
    may leave it empty. Raises OutputUnwritable where the operating system refuses.
    """
    name = f".palprep-{os.getpid()}-{secrets.token_hex(6)}.part{target.suffix}"
    temporary = target.with_name(name)
    settle = settle or (lambda whole: whole.replace(target))
    try:
        private_folder(target.parent)
        # Made before ffmpeg or Pillow writes into it, and the rename keeps its mode.
        os.close(opener(os.fspath(temporary), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except OSError as error:
        raise unwritable(target, error) from None
    try:
        try:
            yield temporary
        except OSError as error:
            if error.errno in _WHILE_WRITING or error.filename == os.fspath(temporary):
                raise unwritable(target, error) from None
            raise
        except ToolFailed as error:
            # ffmpeg's message is all that tells a full disk from a broken source.
            for number in _WHILE_WRITING:
                if os.strerror(number) in error.message:
                    raise unwritable(target, OSError(number, os.strerror(number))) from error
            raise
        try:
            # Flushed, and the folder too, so that a power cut leaves old or new.
            if lasting:
                _sync(temporary, os.O_RDWR)
            settle(temporary)
            if lasting and hasattr(os, "O_DIRECTORY"):
                _sync(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise unwritable(target, error) from None
    finally:
        temporary.unlink(missing_ok=True)


def write_text(target: Path, text: str | Iterable[str], *, lasting: bool = True) -> None:
    """Write a text, or its parts, in UTF-8 as :func:`atomic_output` does. Lone surrogates, which a
    sender's JSON and a file's name may hold, become escapes."""
    parts = (text,) if isinstance(text, str) else text
    with atomic_output(target, lasting=lasting) as temporary:
        try:
            with temporary.open(
                "w", encoding="utf-8", errors="backslashreplace", newline=""
            ) as stream:
                stream.writelines(parts)
        except OSError as error:  # No other file is read meanwhile.
            raise unwritable(target, error) from None


def unwritable(target: Path, error: OSError) -> OutputUnwritable:
    """The error for ``target`` in words that say what to do."""
    words = _WORDS.get(error.errno or 0, error.strerror or str(error))
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    message = f"{target} cannot be written: {words}"
    return OutputUnwritable(message, path=str(target), disk_full=full)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


GoOn = Callable[[], object]
"""Called again and again during a transfer. What it raises ends the transfer."""


class Stored(NamedTuple):
    """An object: its name, its size (-1 if unknown), and a tag that changes with its content."""

    name: str
    size_bytes: int
    etag: str | None

    @property
    def may_mark_folder(self) -> bool:
        """Whether it may be what consoles write when a folder is made: empty, with the folder's
        name and a slash, which obstore takes off."""
        return not self.size_bytes and "." not in self.name.rpartition("/")[2]


class Fetched(NamedTuple):
    """A fetched object: its SHA-256 in hex, its size, and its tag."""

    sha256: str
    size_bytes: int
    etag: str | None


def written(pieces: Iterable[bytes], to: Path, go_on: GoOn | None = None) -> tuple[str, int]:
    """Write the pieces as :func:`atomic_output` does; their SHA-256 in hex, and their size. Raises
    what ``go_on`` raises, which is called before each.
    """
    digest, size = hashlib.sha256(), 0
    with atomic_output(to, lasting=False) as part, part.open("wb") as file:
        for piece in pieces:
            if go_on is not None:
                go_on()
            digest.update(piece)
            size += len(piece)
            file.write(piece)
    return digest.hexdigest(), size


def too_large(shown: str, max_bytes: int) -> StorageError:
    return StorageError(f"{shown} has more than {max_bytes:,} bytes, and is not fetched")


def without_secrets(url: str) -> str:
    """A link without user, password, query and fragment: what may be shown and recorded."""
    try:
        parts = urlsplit(url)
    except ValueError:  # It is shown in a message about just that.
        return url.partition("?")[0].rpartition("@")[2]
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query="", fragment="").geturl()
