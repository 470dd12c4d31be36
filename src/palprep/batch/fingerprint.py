"""Fingerprints: whether something is as it was, without a look at all of it.

Of files it is told by what the file system says of them: none is opened.

A file is the same while its size, its inode and the times of its last change are, as ``make`` and
``git`` take it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path


def folder_fingerprint(folder: str | Path) -> str | None:
    """Of all files in the folder and below: another one when they are not as they were. None where
    it cannot be read, or holds a link to another folder, which may be anywhere.
    """
    return _fingerprint(_files_below(os.fspath(folder)))


def files_fingerprint(paths: Iterable[Path]) -> str | None:
    """Of these files. None where one cannot be looked at."""
    return _fingerprint((str(path), path.stat()) for path in paths)


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


def _fingerprint(files: Iterable[tuple[str, os.stat_result]]) -> str | None:
    try:
        shown = [
            (path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
            for path, found in files
        ]
    except OSError:
        return None
    return digest_of(sorted(shown))


def stage_key(kind: str, *parts: object) -> str:
    """The name of a stage's input: the same parts give the same key."""
    return f"{kind}-{digest_of([str(part) for part in parts])}"


def digest_of(what: object) -> str:
    """A digest of what JSON can hold."""
    # Names of files may hold bytes that are not UTF-8, as surrogates: ASCII escapes them.
    return hashlib.sha256(json.dumps(what, ensure_ascii=True).encode()).hexdigest()[:32]
