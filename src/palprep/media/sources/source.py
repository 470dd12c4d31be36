"""A file: the value that every measure and every fix takes. Its headers are read once, and not at
all by a process that only hands it on to a worker.

What comes as bytes or as a binary file is copied to the disk first, where decoders can seek.
"""

from __future__ import annotations

import errno
import hashlib
import inspect
import os
import stat
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import IO, Any, cast

from typing_extensions import TypeIs

from palprep.errors import (
    FileMissing,
    FileUnreadable,
    MediaTooHeavy,
    OutputUnwritable,
    UnsupportedMedia,
    UsageError,
)
from palprep.media.facts import UNNAMED, FileFacts, MediaType
from palprep.media.sources.bounds import HeaderReader
from palprep.media.sources.sniff import Content, recognise
from palprep.system import NO_MORE, gives_no_more
from palprep.vocabulary import FileInput, address_of

MOST_BYTES = 8 << 30
"""The largest file that is read: a phone's 4K video of twenty minutes."""

_PIECE_BYTES = 1 << 20
_LONGEST_SHOWN = 80
_STEM_BYTES = 200
"""File systems take 255 bytes. A number, a suffix, and the end of a dossier's name follow."""
_NAMES = (str, os.PathLike)
_BYTES = (bytes, bytearray, memoryview)


@dataclass(frozen=True)
class Source:
    """A file as it was when it was named; and what it is, once somebody asks.

    Made once for each file, by :meth:`of`, and handed on, so that nothing below looks at it or
    parses it again. Two sources are equal when they are the same file in the same state. A source
    can be pickled; it takes along what it has learnt, the hash too.

    A file that changes later is refused where it is opened, with FileUnreadable. The guard
    compares the size and the time of the last change, as ``make`` and ``rsync`` do; only
    :meth:`require_same` finds other bytes behind the same size and time.
    """

    path: Path
    size_bytes: int
    modified_ns: int
    given_as: str | None = None
    """The name of a file that was given as bytes or as a binary file; None for one on the disk.

    ``path`` is then a temporary copy, which goes when this source does.
    """

    @classmethod
    def of(cls, file: FileInput | Source) -> Source:
        """The file, with what the system says of it. Nothing of it is read.

        A source is returned as it is; bytes and binary files are copied to the disk first.
        Raises FileMissing for no file or a folder, FileUnreadable when the system refuses,
        UsageError for a file in text mode, OutputUnwritable without room for the copy.
        """
        if isinstance(file, Source):
            return file
        if isinstance(file, _NAMES):
            if not (path := os.fsdecode(file)):
                raise FileMissing("The path is empty; name a file")
            return cls.at(Path(path))
        copy = _copied(file)
        source = cls.at(copy, given_as=name_of(file))
        weakref.finalize(source, copy.unlink, missing_ok=True)
        return source

    @classmethod
    def at(cls, place: Path, given_as: str | None = None) -> Source:
        """A file on the disk, as :meth:`of`; ``given_as`` is what its owner calls it."""
        with _open(place) as file:
            status = os.fstat(file.fileno())
        return cls(place, status.st_size, status.st_mtime_ns, given_as)

    @cached_property
    def content(self) -> Content:
        """What the file is by its content, and what its index says: its name is never looked at.

        See :func:`.sniff.recognise`, which is called when first asked for; in a worker for a
        stranger's file. Raises as :meth:`open` does, but for no size, and DamagedMedia for headers
        that ask for too much work.
        """
        with _open(self.path) as file:
            self.require_unchanged(file)
            try:
                return recognise(HeaderReader(self._readable(file), self.size_bytes, self.name))
            except OSError as error:
                raise _unreadable(self.path, error) from None

    @property
    def type(self) -> MediaType:
        return self.content.type

    @property
    def shown(self) -> str:
        """What reports call the file: its path, or the name under which it was given."""
        return str(self.path) if self.given_as is None else self.given_as

    @property
    def name(self) -> str:
        """The file's name without its folder, for messages."""
        return Path(self.shown).name

    @property
    def stem(self) -> str:
        """What outputs are called: the name without its suffix, or what bytes hold. Of a longer
        name, the first 200 bytes."""
        if self.given_as == UNNAMED:
            return self.type.kind.value
        stem = Path(self.shown).stem
        raw = stem.encode("utf-8", "surrogatepass")
        return stem if len(raw) <= _STEM_BYTES else raw[:_STEM_BYTES].decode("utf-8", "ignore")

    @property
    def facts(self) -> FileFacts:
        return FileFacts(
            path=self.shown, name=self.name, size_bytes=self.size_bytes, type=self.type
        )

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the whole file in hex, read when first asked for. Raises as :meth:`open`."""
        with self.open() as file:
            try:
                digest = hashlib.file_digest(self._readable(file), "sha256").hexdigest()
                self.require_unchanged(file)
            except OSError as error:
                raise _unreadable(self.path, error) from None
        return digest

    def open(self) -> BufferedReader:
        """The file, opened for reading.

        Raises FileMissing, FileUnreadable if it changed, UnsupportedMedia for more than
        :data:`MOST_BYTES`: merely to hash them takes minutes.
        """
        if self.size_bytes > MOST_BYTES:
            raise UnsupportedMedia(
                f"{self.name} has {self.size_bytes:,} bytes; palprep reads files of at most "
                f"{MOST_BYTES:,}. Cut it, or export it smaller"
            )
        file = _open(self.path)
        try:
            self.require_unchanged(file)
        except FileUnreadable:
            file.close()
            raise
        return file

    def _readable(self, file: BufferedReader) -> BufferedReader | BytesIO:
        # A file without a size is empty; or the kernel's, and may keep a reader waiting.
        return file if self.size_bytes else BytesIO()

    def require_same(self, copy: Source | None = None) -> None:
        """Read the whole file again, or a copy of it. Raises FileUnreadable for another hash."""
        if (copy or replace(self)).sha256 != self.sha256:
            raise self._changed()

    def require_unchanged(self, file: BufferedReader) -> None:
        """Raises FileUnreadable when its open ``file`` is another, or was written to, since."""
        status = os.fstat(file.fileno())
        if (status.st_size, status.st_mtime_ns) != (self.size_bytes, self.modified_ns):
            raise self._changed()

    def unsupported(self, rest: str) -> UnsupportedMedia:
        """What to raise for content that is of no use: what the file is, and the ``rest``."""
        return UnsupportedMedia(f"{self.name} is {self.type.description}{rest}")

    def out_of_memory(self) -> MediaTooHeavy:
        """What to raise where memory runs out: that is no damage, and another time it may do."""
        return MediaTooHeavy(
            f"{self.name} takes more memory than this machine gives: export it again, since its "
            "headers may be damaged, or smaller; or try again where there is more"
        )

    def unreadable(self, error: OSError) -> FileUnreadable:
        """What to raise where the system fails, and no decoder: that is no damage either."""
        return _unreadable(self.path, error)

    def _changed(self) -> FileUnreadable:
        return FileUnreadable(
            f"{self.path} changed while palprep worked on it; "
            "run again when nothing writes to it any more"
        )


def type_of(path: Path) -> MediaType:
    """What a file is by its content. Its headers are read in this process."""
    return Source.of(path).type


def sha256_of(path: Path) -> str:
    """SHA-256 of a file in hex, whatever it holds. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _open(path: Path) -> BufferedReader:
    """Open a regular file for reading. Raises FileMissing or FileUnreadable."""
    try:
        # Looked at before it is opened: opening a named pipe would wait for a writer.
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise FileMissing(f"{path} is a folder; name a file in it")
        if not stat.S_ISREG(mode):
            raise FileUnreadable(f"{path} is no regular file (a pipe or a device): give a file")
        return path.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        why = f"{path} does not exist; check the path"
        if path.is_symlink():
            why = f"{path} is a link to what is not there: put the file itself here"
        elif address := address_of(path):
            why = f"{address} is an address, and no file: download it first"
        raise FileMissing(why) from None
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno != errno.ENAMETOOLONG:
            raise _unreadable(path, error, "; check its path and its permissions") from None
        # Perhaps somebody's picture, as base64: no message shows all of it.
        raise FileMissing(
            f"{str(path)[:_LONGEST_SHOWN]!r} is no possible file name; give a path, or the content "
            "as bytes"
        ) from None


def _unreadable(path: Path, error: OSError, advice: str = "") -> FileUnreadable:
    advice = f". {NO_MORE}" if gives_no_more(error) else advice
    return FileUnreadable(f"{path} cannot be read: {error.strerror or error}{advice}")


def is_file(value: object) -> TypeIs[FileInput]:
    """Whether it is one file: a path, bytes, or an object with ``read``; else it may be several."""
    return isinstance(value, (*_NAMES, *_BYTES)) or hasattr(value, "read")


def no_file(value: object) -> UsageError:
    kind = type(value).__name__
    return UsageError(f"Give a file as a path, as bytes or as a binary file, not as {kind}.")


def name_of(file: FileInput | Source) -> str:
    """What messages call the file: its path or its name, or :data:`UNNAMED`."""
    if isinstance(file, Source):
        return file.shown
    if isinstance(file, _NAMES):
        return os.fsdecode(file)
    name = getattr(file, "name", None)
    return name if isinstance(name, str) and name else UNNAMED


def read_binary(file: IO[bytes], size: int) -> bytes:
    """At most so many bytes of an open file. Raises UsageError when it was opened for text or must
    be awaited, and FileUnreadable when it cannot be read."""
    piece: Any = None
    try:
        piece = file.read(size)
    except UnicodeError:
        pass  # No text of the encoding in which it is read.
    except (OSError, ValueError) as error:
        why = f"{str(error).rstrip('.')}; open it again, with mode 'rb'"
        raise FileUnreadable(f"{name_of(file)} cannot be read: {why}") from None
    if inspect.iscoroutine(piece):
        piece.close()
        kind = type(file).__name__
        raise UsageError(f"{kind} is read with await: give the file in it, as UploadFile.file.")
    if not isinstance(piece, bytes):
        raise UsageError("The file is in text mode; open it with mode 'rb'.")
    return piece


@contextmanager
def _to_read(file: FileInput) -> Iterator[IO[bytes]]:
    """What is read of the file. Raises UsageError where nothing was left of one that was open."""
    opened = BytesIO(bytes(file)) if isinstance(file, _BYTES) else cast("IO[bytes]", file)
    try:
        stood = opened.seek(opened.tell())
    except (OSError, ValueError, TypeError, AttributeError):
        stood = None  # It cannot be moved, as a pipe.
    yield opened
    if stood and opened.tell() == stood:
        raise UsageError(
            f"{name_of(file)} stands at its end, and nothing is left to read: call seek(0) on it "
            "first"
        )
    if stood is not None:
        opened.seek(stood)


def _copied(file: FileInput) -> Path:
    """A temporary file with what is left to be read of it, which the caller deletes. An open file
    stands where it stood afterwards, so that the next call reads the same.

    Raises UsageError for a file in text mode or at its end, and for what is no file, FileUnreadable
    when it cannot be read, OutputUnwritable when the disk is full.
    """
    if not is_file(file):
        raise no_file(file)
    descriptor, name = tempfile.mkstemp(prefix="palprep-")
    try:
        with os.fdopen(descriptor, "wb") as copy, _to_read(file) as opened:
            while copy.tell() <= MOST_BYTES and (piece := read_binary(opened, _PIECE_BYTES)):
                try:
                    copy.write(piece)
                except OSError as error:
                    raise OutputUnwritable(
                        f"There is no room for a copy in {tempfile.gettempdir()} "
                        f"({error.strerror}); free some space, or name another folder in TMPDIR",
                        disk_full=True,
                    ) from None
    except BaseException:
        Path(name).unlink()
        raise
    return Path(name)
