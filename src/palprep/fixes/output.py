"""The files that fixes make, which replace no other, and what was done to them."""

from __future__ import annotations

import contextlib
import errno
import filecmp
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from palprep.errors import UsageError
from palprep.storage import atomic_output, is_there, private_file, private_folder, unwritable
from palprep.values import Span, Value


class FixDone(Value):
    """One thing that was done to a file: the fix's stable id, and what it did in plain words
    with its numbers, for example ``turned upright (EXIF orientation 6)``."""

    id: str
    did: str
    kept: tuple[Span, ...] = ()
    """The stretches of the source that the output holds, where the fix is a choice among them."""


def turn_done(degrees: int) -> FixDone:
    quarters = {90: "90° clockwise", 180: "180°", 270: "90° counter-clockwise"}
    return FixDone(id="turn", did=f"turned by {quarters[degrees]}")


class Applied(Value):
    """The file that a plan made, and everything that was done to get there, in order."""

    path: str
    fixes: tuple[FixDone, ...]
    coding_kept: bool = False
    """Whether the image, or all of the picture and the sound, is coded in the source's own bytes.
    """
    clipped_runs: int | None = None
    """Runs of clipped samples in the stretches of a recording that were chosen, as they are in the
    source. None where all of it was kept."""


_WITHOUT_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
"""How file systems without hard links, such as a memory card's, refuse one."""


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
    """An :func:`~palprep.storage.atomic_output` at ``stem`` plus ``suffix``, replacing none.

    Where a file of other content has the name, the output is called ``stem-2``, ``stem-3`` and so
    on; a file of the very same content is taken for the output. With ``overwrite`` the name is
    kept, and its file replaced. Raises UsageError when that name is the source's, OutputUnwritable
    where the operating system refuses.
    """
    target = stem.with_name(stem.name + suffix)
    if is_there(target) and target.samefile(source):
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
    with new_output(folder / path.stem, path.suffix, source=path) as output:
        path.replace(output.temporary)
    return output.path


@contextlib.contextmanager
def unproved_in(folder: Path) -> Iterator[Path]:
    """A hidden folder in ``folder`` for files that are not proved yet. It is removed with them, or
    by :func:`remove_parts`. Raises OutputUnwritable where the operating system refuses.
    """
    try:
        private_folder(folder)
        name = tempfile.mkdtemp(prefix=f".palprep-{os.getpid()}-", suffix=".part", dir=folder)
    except OSError as error:
        raise unwritable(folder, error) from None
    try:
        yield Path(name)
    finally:
        shutil.rmtree(name, ignore_errors=True)


def remove_parts(folder: Path, pid: int) -> None:
    """Remove from a folder, and those in it, what a process that was killed had half written."""
    for depth in ("", "*/"):
        for part in folder.glob(f"{depth}.palprep-{pid}-*.part*"):
            if part.is_dir():
                shutil.rmtree(part, ignore_errors=True)
            else:
                part.unlink(missing_ok=True)


def _place_freely(temporary: Path, target: Path) -> Path:
    """Give the file the first name like ``target`` that is free, or has the same content."""
    names = (target.with_stem(f"{target.stem}-{number}") for number in itertools.count(2))
    for name in itertools.chain([target], names):
        if name.is_file() and filecmp.cmp(temporary, name, shallow=False):
            private_file(name)
            return name
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
