"""The consent dossiers of a run, held against what its journal kept of them."""

from __future__ import annotations

from pathlib import Path

from palprep.dossier.chain import Dossier
from palprep.journal.store import JOURNAL_NAME, Journal


def kept_dossiers(directory: str | Path) -> dict[Path, Dossier]:
    """Every dossier that the runs into this output folder wrote, as it was last.

    Raises JournalError when there is no journal.
    """
    place = Path(directory)
    with Journal(place / JOURNAL_NAME) as journal:
        noted = [entry.body for entry in journal.entries() if entry.kind == "dossier"]
    return {place / body["path"]: Dossier.model_validate(body["dossier"]) for body in noted}
