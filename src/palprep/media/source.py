"""A file whose content has been looked at: the value that every measure and every fix takes."""

from __future__ import annotations

import hashlib
import os
import stat
import weakref
from dataclasses import dataclass, field
from functools import cached_property
from io import BufferedReader, BytesIO
from pathlib import Path

from palprep.errors import FileMissing, FileUnreadable, UnsupportedMedia
from palprep.media.ebml import Matroska
from palprep.media.facts import UNNAMED, FileFacts, MediaType
from palprep.media.given import given_name, keep, missing, on_disk
from palprep.media.isobmff import Movie
from palprep.media.sniff import recognise
from palprep.vocabulary import FileInput

MOST_BYTES = 8 << 30
"""Of a file that is read: a phone's 4K video of twenty minutes."""


@dataclass(frozen=True)
class Source:
    """A file as it was when it was recognised: what it is, and what its index says.

    Made once for each file, by :meth:`of`, and handed on, so that nothing below sniffs or
    parses again. Two sources are equal when they are the same file in the same state. A source
    can be pickled; it takes along what it has learnt, the hash too.

    A file that changes later is refused where it is opened, with FileUnreadable. The guard
    compares the size and the time of the last change, as ``make`` and ``rsync`` do.
    """

    path: Path
    type: MediaType
    size_bytes: int
    modified_ns: int
    movie: Movie | None = field(default=None, repr=False, compare=False)
    """The boxes of an mp4, mov or m4a file; None for other formats."""
    matroska: Matroska | None = field(default=None, repr=False, compare=False)
    """The head of a WebM or Matroska file; None for other formats."""
    given_as: str | None = None
    """The name of a file that was given as bytes or as a binary file; None for one on the disk.

    ``path`` is then a temporary copy, which goes when this source does.
    """

    @classmethod
    def of(cls, file: FileInput | Source) -> Source:
        """Recognise a file by its content: its name is never looked at.

        Reads the head and, of mp4, mov and WebM, the index. A format that no role takes is
        named for what it is, with ``type.accepted`` False. A source is returned as it is; bytes
        and what is not on the disk are copied there first.
        Raises FileMissing for no file or a folder, FileUnreadable when the system refuses,
        UsageError for a file in text mode, OutputUnwritable without room for the copy.
        """
        if isinstance(file, Source):
            return file
        place = on_disk(file)
        if isinstance(place, Path):
            return cls._at(place)
        kept = keep(place)
        try:
            source = cls._at(kept, given_as=given_name(file))
        except BaseException:
            kept.unlink()
            raise
        weakref.finalize(source, kept.unlink, missing_ok=True)
        return source

    @classmethod
    def _at(cls, place: Path, given_as: str | None = None) -> Source:
        with _open(place) as file:
            try:
                status = os.fstat(file.fileno())
                # A file without a size is empty; or the kernel's, and may keep a reader waiting.
                content = recognise(file if status.st_size else BytesIO(), status.st_size)
            except OSError as error:
                raise FileUnreadable(f"{place} cannot be read: {error.strerror or error}") from None
        return cls(
            path=place,
            type=content.type,
            size_bytes=status.st_size,
            modified_ns=status.st_mtime_ns,
            movie=content.movie,
            matroska=content.matroska,
            given_as=given_as,
        )

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
        """What outputs are called: the name without its suffix, or what bytes hold."""
        return self.type.kind.value if self.given_as == UNNAMED else Path(self.shown).stem

    @property
    def truncated(self) -> bool:
        """The index claims more bytes than the file has, or is missing itself."""
        index = self.movie or self.matroska
        return index is not None and index.truncated

    @property
    def facts(self) -> FileFacts:
        """What stands in reports about the file itself."""
        return FileFacts(
            path=self.shown, name=self.name, size_bytes=self.size_bytes, type=self.type
        )

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the whole file in hex. Read when first asked for, then kept.

        Raises as :meth:`open` does.
        """
        with self.open() as file:
            try:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                self._require(os.fstat(file.fileno()))
            except OSError as error:
                raise FileUnreadable(
                    f"{self.path} cannot be read: {error.strerror or error}"
                ) from None
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
            self._require(os.fstat(file.fileno()))
        except FileUnreadable:
            file.close()
            raise
        return file

    def _require(self, status: os.stat_result) -> None:
        if (status.st_size, status.st_mtime_ns) != (self.size_bytes, self.modified_ns):
            raise FileUnreadable(
                f"{self.path} changed while palprep worked on it; "
                "run again when nothing writes to it any more"
            )


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
            raise FileUnreadable(f"{path} is no regular file (a pipe or a device)")
        return path.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        raise missing(path) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileUnreadable(f"{path} cannot be read: {reason}; check its permissions") from None
    except ValueError:
        raise FileMissing(f"{str(path)!r} is no possible file name") from None
