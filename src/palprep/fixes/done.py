"""What was done to a file, as values."""

from __future__ import annotations

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
