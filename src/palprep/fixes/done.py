"""What was done to a file, as values."""

from __future__ import annotations

from palprep.values import Value


class FixDone(Value):
    """One thing that was done to a file: the fix's stable id, and what it did in plain words
    with its numbers, for example ``turned upright (EXIF orientation 6)``."""

    id: str
    did: str


class Applied(Value):
    """The file that a plan made, and everything that was done to get there, in order."""

    path: str
    fixes: tuple[FixDone, ...]
