"""The consent dossiers of a run: written, and held against what its journal keeps of them."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from palprep.dossier.chain import Dossier
from palprep.dossier.files import keep_dossier, read_dossier, waive
from palprep.errors import JournalError
from palprep.journal.entries import DossierKept
from palprep.journal.store import Journal
from palprep.preflight.prepared import Prepared
from palprep.rules.report import Check


def record_dossier(
    journal: Journal,
    into: Path,
    person: str,
    prepared: Prepared,
    *,
    compared: tuple[Check, ...] = (),
    waived: tuple[str, ...] = (),
) -> None:
    """Put on file what was heard of the consent, whether or not it suffices.

    ``waived`` says what was missing where the run goes on regardless. A file in which the
    statement was not listened for has no dossier.
    """
    now = journal.now()
    path = keep_dossier(prepared, person=person, written_at=now, compared=compared)
    if path is None:
        return
    if waived:
        waive(path, written_at=now, note=" ".join(waived))
    place = path.relative_to(into).as_posix()
    kept = DossierKept(path=place, dossier=read_dossier(path).to_json())
    journal.append(kept, person=person)


def kept_dossiers(directory: str | Path) -> dict[Path, Dossier]:
    """Every dossier that the runs into this output folder wrote, as it was last.

    Raises JournalError when there is no journal, or one that holds a dossier of another
    version.
    """
    place = Path(directory)
    with Journal.of(place) as journal:
        kept = [entry.body for entry in journal.entries(DossierKept)]
    try:
        return {place / body.path: Dossier.model_validate(body.dossier) for body in kept}
    except ValidationError:
        raise JournalError(
            f"The journal in {place} holds a consent dossier of another version of palprep: "
            "name the dossiers' own files instead"
        ) from None
