"""Whether files are as they were, told by what the file system says of them: none is opened.

A file is the same while its size, its inode and the times of its last change are, as ``make`` and
``git`` take it. A change within the tick of the clock in which a file was looked at may leave all
of these as they were. So what had only just changed is not trusted ("racy",
Documentation/technical/racy-git in the source of git).
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_TICK_NS = 20_000_000
"""Two ticks of the slowest clock by which a kernel tells the times of files, 100 Hz."""
_COARSE_NS = 2_000_000_000
"""The step of file systems that keep whole seconds. FAT counts in twos."""


class Seen(NamedTuple):
    """Files at one moment. ``state`` is another one when they are not as they were.

    ``sure`` says that a later change will show. It may not, of a file that had only just changed.
    """

    state: str
    sure: bool


def folder_seen(folder: str | Path, at: dt.datetime) -> Seen | None:
    """All files in the folder and below, as they are ``at`` this time, which is now or just before.

    None where it cannot be read, or holds a link to another folder, which may be anywhere.
    """
    try:
        return _seen(_files_below(os.fspath(folder)), at)
    except OSError:
        return None


def files_seen(paths: Iterable[Path], at: dt.datetime) -> Seen | None:
    """These files, likewise."""
    try:
        return _seen(((str(path), path.stat()) for path in paths), at)
    except OSError:
        return None


class _LinkedFolder(OSError):
    """A folder elsewhere."""


def _files_below(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    folders = [folder]
    while folders:
        here = folders.pop()
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.is_dir():
                    if entry.is_symlink():
                        raise _LinkedFolder
                    folders.append(entry.path)
                else:
                    yield entry.path, entry.stat()


def _seen(files: Iterable[tuple[str, os.stat_result]], at: dt.datetime) -> Seen:
    now_ns = round(at.timestamp() * 1e9)
    sure = True
    shown = []
    for path, status in files:
        changed_ns = status.st_ctime_ns
        shown.append((path, status.st_size, status.st_mtime_ns, changed_ns, status.st_ino))
        # No one sets this time by hand: without fractions, the file system keeps none.
        step_ns = _TICK_NS if changed_ns % 1_000_000_000 else _COARSE_NS
        sure = sure and changed_ns + step_ns < now_ns
    return Seen(state_of(sorted(shown)), sure)


def state_of(what: object) -> str:
    """A digest of what JSON can hold."""
    # Names of files may hold bytes that are not UTF-8, as surrogates: ASCII escapes them.
    return hashlib.sha256(json.dumps(what, ensure_ascii=True).encode()).hexdigest()[:32]
