"""Where everybody of a journal stands, all at once."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from palprep import journal
from palprep.journal import JournalHead, PersonStanding


class Standings(NamedTuple):
    head: JournalHead
    people: tuple[PersonStanding, ...]


def status(directory: Path) -> Standings:
    with journal.status(directory) as (head, people):
        return Standings(head, tuple(people))
