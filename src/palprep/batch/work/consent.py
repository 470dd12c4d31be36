"""Consent in a run: what each person must say, and the dossiers that are kept of it."""

from __future__ import annotations

import contextlib
import os
import shlex
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from pydantic import ValidationError

from palprep.batch.engines.files import MAX_BYTES, key_in_bucket
from palprep.batch.people.person import Person
from palprep.consent.wording import open_statement, read_statement, required_statement
from palprep.dossier import Dossier, read_dossier
from palprep.errors import JournalError, UsageError
from palprep.facts import Speaker
from palprep.journal import Journal
from palprep.journal.entries import DossierKept, SandboxStatement
from palprep.pipelines import journal_above
from palprep.storage import Bucket
from palprep.vocabulary import did_you_mean


def speaker_of(person: Person, model: Path | str | None = None) -> Speaker | None:
    """The speaker whose consent is listened for, by :func:`spoken_by`; None without a video that
    may hold the statement, or without a known name."""
    return None if person.unread or not person.may_speak else spoken_by(person, model)


def spoken_by(person: Person, model: Path | str | None = None) -> Speaker:
    """The person as a speaker, for whose consent ``model`` listens. Raises UsageError for a
    statement that cannot be used."""
    own = person.statement
    return Speaker(
        full_name=person.full_name,
        statement=own and read_statement(own),
        language=person.spoken_language,
        whisper_model=Path(model) if model else None,
        spoken_as=person.settings.spoken_as,
    )


def statements_of(
    people: Sequence[Person], model: Path | str | None = None
) -> tuple[SandboxStatement, ...]:
    """The statements that a sandbox accepts as consent: palprep's template, and people's own, with
    their names left open. ``model`` listens for them. A statement that cannot be used is left out:
    the work for its person ends with the reason."""
    found = [SandboxStatement(text=required_statement(), model=model)]
    for person in people:
        if person.statement is None:
            continue
        with contextlib.suppress(UsageError):
            text = open_statement(read_statement(person.statement), person.full_name)
            language = person.spoken_language
            found.append(SandboxStatement(text=text, language=language, model=model))
    return tuple(dict.fromkeys(found))


def kept_dossiers(directory: str | Path, people: Collection[str] = ()) -> dict[Path, Dossier]:
    """Every dossier that the runs into this output folder wrote, as the journal keeps it; or those
    of ``people``, by their slugs. Raises JournalError without a journal, and for a dossier of
    another version, UsageError for somebody without a dossier."""
    place = Path(directory)
    with Journal.of(place) as journal:
        entries = journal.entries(DossierKept)
    known = {entry.person for entry in entries if entry.person}
    if unknown := sorted({*people} - known):
        look = shlex.join(["palprep", "status", str(place)])
        there = did_you_mean(unknown[0], known, f"`{look}` says who is there")
        raise UsageError(f"The runs into {place} kept no dossier of {unknown[0]}: {there}")
    kept = {
        entry.body.path: entry.body.dossier
        for entry in entries
        if not people or entry.person in people
    }
    try:
        return {place / path: Dossier.model_validate(last) for path, last in kept.items()}
    except ValidationError:
        raise JournalError(
            f"The journal in {place} holds a consent dossier of another version of palprep: "
            "name the dossiers' own files instead"
        ) from None


def recorded_of(files: Iterable[Path]) -> dict[Path, Dossier | None]:
    """Each of these files of dossiers, with the dossier that the journal above it keeps; None where
    no journal keeps it, or none can be read."""
    found: dict[Path, Dossier | None] = {}
    for root, each in groupby(files, journal_above):
        kept: dict[Path, Dossier] = {}
        if root is not None:
            with contextlib.suppress(JournalError):
                kept = kept_dossiers(root)
        found |= {file: kept.get(Path(os.path.realpath(file))) for file in each}
    return found


@contextlib.contextmanager
def video_at_hand(dossier: Path, store: Bucket | None) -> Iterator[Path | None]:
    """Where the video that a dossier is about lies for as long as the block takes, fetched from the
    bucket into which a run with ``--store`` prepared it; with what holds its fresh code beside it.

    None where it lies next to its dossier, and where the bucket does not have it either. Raises
    StorageError, and what :func:`read_dossier` raises.
    """
    evidence = read_dossier(dossier).evidence
    output = evidence.output
    if store is None or output is None or dossier.with_name(output.name).is_file():
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="palprep-") as place:
        for file in filter(None, (output, evidence.code)):
            path = Path(place) / Path(file.name).name
            key = key_in_bucket(path, file.sha256)
            if store.look(key) is not None:
                store.fetch(key, path, max_bytes=MAX_BYTES)
        video = Path(place) / Path(output.name).name
        yield video if video.is_file() else None
