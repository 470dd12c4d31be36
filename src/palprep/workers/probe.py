"""What this system keeps from a worker: a worker is started, tries, and tells."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from palprep.workers.local import LocalEngine

_FOREIGN = "/etc/hosts"
"""A file that is on every system, that everybody may read, and no decoder needs."""

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|^(AWS|AZURE|GOOGLE)_", re.IGNORECASE)


class Isolation(NamedTuple):
    """One thing that a worker must not do: whether it is ``held`` back from it here, in words, and
    what the system lacks where it is not.
    """

    name: str
    held: bool
    words: str
    lacks: str | None


_LANDLOCK = "This needs Linux 5.13 or later with landlock, outside containers that forbid it"
_SECCOMP = "This needs Linux on x86_64 or aarch64, outside containers that forbid seccomp"
_LINUX = "This needs Linux"

_KINDS = {
    "reading": ("open no files of yours but those that they are given", _LANDLOCK),
    "writing": ("write nowhere but into the output folder", _LANDLOCK),
    "programs": ("run no program but ffmpeg", _LANDLOCK),
    "network": ("open no connection", _SECCOMP),
    "processes": ("reach no other process", _LANDLOCK),
    "environment": ("know no key and no credentials", _LINUX),
    "rights": ("get no more rights", _LINUX),
    "debugging": ("can be read by no other program, and dump no core", _LINUX),
    "resources": ("have limits of files, addresses and processes", _LINUX),
}
"""What the processes that open media do, or cannot be kept from, and what that needs."""


def probe_isolation() -> tuple[Isolation, ...]:
    """Start a worker and have it try. Raises ToolFailed where none starts."""
    with LocalEngine(1) as engine, tempfile.TemporaryDirectory(prefix="palprep-") as outside:
        given = engine.protections()
        held = {
            **engine.run(_refused, outside),
            "rights": given.no_new_rights,
            "debugging": given.undebuggable,
            "resources": given.resource_limits,
        }
    return tuple(
        Isolation(name, held[name], what, None if held[name] else lacks)
        for name, (what, lacks) in _KINDS.items()
    )


def _refused(outside: str) -> dict[str, bool]:
    """Runs in the worker. ``outside`` is a folder that it was not given."""
    inside = Path(tempfile.gettempdir())
    attempts: Mapping[str, Callable[[], object]] = {
        "reading": Path(_FOREIGN).read_bytes,
        "writing": lambda: Path(outside, "new").write_bytes(b""),
        "programs": lambda: subprocess.run(["/bin/sh", "-c", ":"], check=True),
        "network": lambda: socket.socket(socket.AF_INET).close(),
        "processes": _meddle,
    }
    (inside / "own").write_bytes(b"")  # This it may.
    refused = {name: _is_refused(attempt) for name, attempt in attempts.items()}
    return {**refused, "environment": not any(map(_SECRET.search, os.environ))}


def _meddle() -> None:
    if hasattr(os, "killpg"):  # Where there are no signals, 0 is Ctrl-C.
        os.kill(os.getppid(), 0)
    if sys.platform == "linux":
        Path(f"/proc/{os.getppid()}/environ").read_bytes()


def _is_refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError as error:
        return isinstance(error, PermissionError)
    return False
