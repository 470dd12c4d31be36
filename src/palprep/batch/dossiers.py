"""The consent dossiers of a run: written, and held against what its journal keeps of them."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from palprep.batch.kept_files import MAX_BYTES, key_in_bucket
from palprep.dossier.chain import Dossier
from palprep.dossier.files import keep_dossier, read_dossier, waive
from palprep.errors import JournalError
from palprep.journal.entries import DossierKept
from palprep.journal.store import Journal
from palprep.preflight.prepared import Prepared
from palprep.rules.report import Check
from palprep.storage.bucket import Bucket


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
        kept = {entry.body.path: entry.body.dossier for entry in journal.entries(DossierKept)}
    try:
        return {place / path: Dossier.model_validate(last) for path, last in kept.items()}
    except ValidationError:
        raise JournalError(
            f"The journal in {place} holds a consent dossier of another version of palprep: "
            "name the dossiers' own files instead"
        ) from None


@contextlib.contextmanager
def video_at_hand(dossier: Path, store: Bucket | None) -> Iterator[Path | None]:
    """Where the video that a dossier is about lies for as long as the block takes, fetched from the
    bucket into which a run with ``--store`` prepared it.

    None where it lies next to its dossier, and where the bucket does not have it either. Raises
    StorageError, and what :func:`read_dossier` raises.
    """
    output = read_dossier(dossier).evidence.output
    if store is None or output is None or dossier.with_name(output.name).is_file():
        yield None
        return
    name = key_in_bucket(Path(output.name), output.sha256)
    if store.look(name) is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="palprep-") as place:
        path = Path(place) / Path(output.name).name
        store.fetch(name, path, max_bytes=MAX_BYTES)
        yield path
