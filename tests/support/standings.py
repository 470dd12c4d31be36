"""Where everybody of a journal stands, all at once."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from palprep.journal import runs
from palprep.journal.runs import JournalHead, PersonStanding


class Standings(NamedTuple):
    head: JournalHead
    people: tuple[PersonStanding, ...]


def status(directory: Path) -> Standings:
    with runs.status(directory) as (head, people):
        return Standings(head, tuple(each.standing for each in people))
