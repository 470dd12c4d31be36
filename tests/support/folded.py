"""What entries add up to, worked out from the first one on: what a journal's tables must hold."""

from __future__ import annotations

from collections.abc import Iterable

from palprep.journal.creations.states import Creation, advanced
from palprep.journal.entries.bodies import Body, Entry


def fold(entries: Iterable[Entry[Body]]) -> dict[str, Creation]:
    """Every creation by key, in the order of the first intents."""
    creations: dict[str, Creation] = {}
    for entry in entries:
        after = advanced(creations.get(entry.key or ""), entry)
        if after is not None:
            creations[after.key] = after
    return creations
