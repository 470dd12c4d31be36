"""Files and folders that nobody but the user can read, whatever the umask.

Everything that palprep writes about people is made here. A mask of the process is never changed: a
program that uses palprep may have threads of its own.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from pathlib import Path

from palprep.errors import UsageError

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
            f"{folder} is an address, and what is written goes into a folder of this machine: name "
            "one. --publish-to and --store take buckets"
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
        os.close(opener(os.fspath(path), os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC))
    with contextlib.suppress(PermissionError):
        mode = path.stat().st_mode
        if stat.S_ISREG(mode) and stat.S_IMODE(mode) != FILE_MODE:
            path.chmod(FILE_MODE)
