"""Prepared files of people who are done, removed some time after they ended.

What was learnt of them is kept: the journal, the dossiers, results and page. Each dossier says
that its video was removed on purpose, when, and why.
"""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterator
from pathlib import Path

from palprep.batch.work.context import PREPARED_NAME, Note
from palprep.batch.work.originals import SOURCES_NAME
from palprep.dossier import DOSSIER_SUFFIX, add_entry, read_dossier
from palprep.errors import DossierUnusable
from palprep.journal import (
    READY,
    DossierKept,
    FilesRemoved,
    Journal,
    PersonEnded,
    PersonView,
    ReadableRun,
)


def remove_outlived(
    journal: Journal, place: Path, run: ReadableRun, retain_s: float
) -> Iterator[Note]:
    """Remove what was prepared, and copies of originals, of everybody who has been done for
    ``retain_s`` seconds. One note for each.

    A person whose dossier was changed keeps everything. Raises OutputUnwritable, JournalError.
    """
    for person in run.people:
        if person.status not in READY or person.files_removed:
            continue
        ended = _ended_at(journal, person)
        if ended is None or (journal.now() - ended).total_seconds() < retain_s:
            continue
        days = f"{retain_s / 86_400:g} days after the work ended"
        prepared = place / PREPARED_NAME / person.slug
        try:
            for path in sorted(prepared.rglob(f"*{DOSSIER_SUFFIX}")):
                # Recorded first: whatever breaks off between leaves no video missing unexplained.
                if read_dossier(path).entries[-1].kind != "removal":
                    add_entry(path, kind="removal", written_at=journal.now(), note=days)
                kept = DossierKept(
                    path=path.relative_to(place).as_posix(), dossier=read_dossier(path).to_json()
                )
                journal.append(kept, person=person.slug)
        except DossierUnusable as error:
            yield Note(person=person.slug, text=f"nothing is removed: {error}", about="removed")
            continue
        for file in prepared.rglob("*"):
            if file.is_file() and not file.name.endswith(DOSSIER_SUFFIX):
                file.unlink()
        shutil.rmtree(place / SOURCES_NAME / person.slug, ignore_errors=True)
        journal.append(FilesRemoved(retain_s=retain_s), person=person.slug)
        yield Note(
            person=person.slug,
            text=f"prepared files were removed, {days}; journal, dossiers, results and page with "
            "its pictures are kept",
            about="removed",
        )


def _ended_at(journal: Journal, person: PersonView) -> dt.datetime | None:
    """When the work for a person, and the last training, had ended."""
    told = [entry.at for entry in journal.entries(PersonEnded, person=person.slug)[-1:]]
    told += [each.ended_at for each in (person.voice, person.replica) if each and each.ended_at]
    return max(map(dt.datetime.fromisoformat, told), default=None)
