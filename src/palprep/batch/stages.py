"""Stages whose result an earlier run has already recorded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TypeVar

from palprep.journal.entries import AboutRun, Reused
from palprep.journal.store import Journal

B = TypeVar("B", bound=AboutRun)


def stage_key(kind: str, *parts: object) -> str:
    """The name of a stage's input: the same parts give the same key."""
    text = json.dumps([str(part) for part in parts], ensure_ascii=True)
    return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def reused(
    journal: Journal, kind: type[B], key: str, person: str, fits: Callable[[B], bool]
) -> B | None:
    """The latest recorded result of the stage ``key`` for this person that ``fits`` takes.

    It is then recorded as reused.
    """
    for entry in reversed(journal.entries(kind, key=key, person=person)):
        if fits(entry.body):
            journal.append(Reused(seq=entry.seq), person=person, key=key)
            return entry.body
    return None
