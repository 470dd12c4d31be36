"""Fingerprints: whether something is as it was, without a look at all of it.

Of files it is told by what the file system says of them: none is opened.

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


class Fingerprint(NamedTuple):
    """Files at one moment. ``digest`` is another one when they are not as they were. ``sure``: a
    later change will show, which it may not of a file that had only just changed."""

    digest: str
    sure: bool


def folder_fingerprint(folder: str | Path, at: dt.datetime) -> Fingerprint | None:
    """All files in the folder and below, ``at`` this time, which is now or just before. None where
    it cannot be read, or holds a link to another folder, which may be anywhere.
    """
    return _fingerprint(_files_below(os.fspath(folder)), at)


def files_fingerprint(paths: Iterable[Path], at: dt.datetime) -> Fingerprint | None:
    """These files, ``at`` this time. None where one cannot be looked at."""
    return _fingerprint(((str(path), path.stat()) for path in paths), at)


def _files_below(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    folders = [folder]
    while folders:
        here = folders.pop()
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.is_dir():
                    if entry.is_symlink():
                        raise OSError(f"{entry.path} is a folder elsewhere")
                    folders.append(entry.path)
                else:
                    yield entry.path, entry.stat()


def _fingerprint(
    files: Iterable[tuple[str, os.stat_result]], at: dt.datetime
) -> Fingerprint | None:
    now_ns = round(at.timestamp() * 1e9)
    sure = True
    shown = []
    try:
        for path, status in files:
            changed_ns = status.st_ctime_ns
            shown.append((path, status.st_size, status.st_mtime_ns, changed_ns, status.st_ino))
            # No one sets this time by hand: without fractions, the file system keeps none.
            step_ns = _TICK_NS if changed_ns % 1_000_000_000 else _COARSE_NS
            sure = sure and changed_ns + step_ns < now_ns
    except OSError:
        return None
    return Fingerprint(digest_of(sorted(shown)), sure)


def stage_key(kind: str, *parts: object) -> str:
    """The name of a stage's input: the same parts give the same key."""
    return f"{kind}-{digest_of([str(part) for part in parts])}"


def digest_of(what: object) -> str:
    """A digest of what JSON can hold."""
    # Names of files may hold bytes that are not UTF-8, as surrogates: ASCII escapes them.
    return hashlib.sha256(json.dumps(what, ensure_ascii=True).encode()).hexdigest()[:32]
