"""Small pictures and sound that stand in a page itself, so that it needs nothing else."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import NamedTuple

from palprep.errors import PalprepError


class Embedded(NamedTuple):
    """An encoded image or sound, and its media type."""

    data: bytes
    mime: str

    @property
    def data_uri(self) -> str:
        """All of it as an address for a ``src``."""
        return f"data:{self.mime};base64,{base64.b64encode(self.data).decode('ascii')}"


def inline(make: Callable[[], Embedded | None]) -> str | None:
    """What is made, as an address for a ``src``; None where there is nothing, or nothing any more.

    A page is worth reading without it: a file that was moved or deleted since must not keep the
    page from being written.
    """
    try:
        made = make()
    except (PalprepError, OSError):
        return None
    return None if made is None else made.data_uri
