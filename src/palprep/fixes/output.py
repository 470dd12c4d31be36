"""Outputs that exist whole or not at all, and what was done to them.

A fix writes to a temporary file next to its target, which takes the target's name only when
everything is on the disk. Whatever interrupts it (an error, Ctrl-C) leaves neither half a
target nor the temporary file, and a target of an earlier run stays as it was.
"""

from __future__ import annotations

import contextlib
import errno
import filecmp
import itertools
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from palprep.errors import OutputUnwritable, ToolFailed, UsageError
from palprep.storage import opener, private_file, private_folder
from palprep.values import Span, Value


class FixDone(Value):
    """One thing that was done to a file: the fix's stable id, and what it did in plain words
    with its numbers, for example ``turned upright (EXIF orientation 6)``."""

    id: str
    did: str
    kept: tuple[Span, ...] = ()
    """The stretches of the source that the output holds, where the fix is a choice among them."""


class Applied(Value):
    """The file that a plan made, and everything that was done to get there, in order."""

    path: str
    fixes: tuple[FixDone, ...]
    pixels_kept: bool = False
    """Whether the image is coded in the very bytes of the source."""
    clipped: tuple[int, float] | None = None
    """Runs of clipped samples, and seconds of them, in the stretches of a recording that were
    chosen, as they are in the source. None where all of it was kept."""


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
"""What a write can meet although the file was already open; a read never does."""
_WITHOUT_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
"""How file systems without hard links, such as a memory card's, refuse one."""


@contextlib.contextmanager
def atomic_output(
    target: Path, *, lasting: bool = True, settle: Callable[[Path], object] | None = None
) -> Iterator[Path]:
    """Yield an empty temporary file next to ``target``; rename it to ``target`` at the end.

    The temporary name keeps the target's suffix, so that writers which go by it choose the
    same format, and starts with a dot, so that no glob of the folder takes it for a result.
    Missing folders are made, and both are private to the user. A file that has the name is
    replaced, unless ``settle`` is given: that gives the temporary file its name. What is not
    ``lasting`` can be made again, such as a page: it is not waited for until it is on the disk, and
    a power cut may leave it empty. Raises OutputUnwritable where the operating system refuses.
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


@dataclass
class Output:
    """A file that a fix makes: written at ``temporary``, and found at ``path`` in the end."""

    temporary: Path
    path: Path


NewOutput = Callable[[str], contextlib.AbstractContextManager[Output]]
"""Starts an output with that suffix: :func:`new_output`, told everything else."""


@contextlib.contextmanager
def new_output(
    stem: Path, suffix: str, *, source: Path, overwrite: bool = False
) -> Iterator[Output]:
    """Like :func:`atomic_output` for ``stem`` plus ``suffix``, replacing no other file.

    Where a file of other content has the name, the output is called ``stem-2``, ``stem-3`` and so
    on; a file of the very same content is taken for the output. With ``overwrite`` the name is
    kept, and its file replaced. Raises UsageError when that name is the source's, OutputUnwritable
    where the operating system refuses.
    """
    target = stem.with_name(stem.name + suffix)
    if target.exists() and target.samefile(source):
        raise UsageError(f"{target} is the source itself; choose another folder for the output")

    def settle(temporary: Path) -> None:
        output.path = _place_freely(temporary, target)

    with atomic_output(target, settle=None if overwrite else settle) as temporary:
        output = Output(temporary, target)
        yield output


def move_into(path: Path, folder: Path) -> Path:
    """Move a file into a folder under its name, replacing no other: see :func:`new_output`.

    Returns where it is. Raises OutputUnwritable where the operating system refuses.
    """
    target = folder / path.name
    try:
        private_folder(folder)
        moved = _place_freely(path, target)
        path.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(target, error) from None
    return moved


def remove_parts(folder: Path, pid: int) -> None:
    """Remove from a folder, and those in it, what a process that was killed had half written."""
    for depth in ("", "*/"):
        for part in folder.glob(f"{depth}.palprep-{pid}-*.part*"):
            part.unlink(missing_ok=True)


def _place_freely(temporary: Path, target: Path) -> Path:
    """Give the file the first name like ``target`` that is free, or has the same content."""
    names = (target.with_stem(f"{target.stem}-{number}") for number in itertools.count(2))
    for name in itertools.chain([target], names):
        if name.is_file() and filecmp.cmp(temporary, name, shallow=False):
            private_file(name)
            break
        try:
            # A new name for the file fails where the name is taken, by another process, too.
            name.hardlink_to(temporary)
        except FileExistsError:
            continue
        except OSError as error:
            if error.errno not in _WITHOUT_LINKS:
                raise
            if os.path.lexists(name):
                continue
            temporary.replace(name)
        break
    return name


def unwritable(target: Path, error: OSError) -> OutputUnwritable:
    """The error for ``target`` in words that say what to do."""
    words = _WORDS.get(error.errno or 0, error.strerror or str(error))
    return OutputUnwritable(f"{target} cannot be written: {words}", path=str(target))


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
