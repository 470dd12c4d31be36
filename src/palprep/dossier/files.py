"""Consent dossiers as files: JSON next to the prepared video, and compared with what lies there."""

from __future__ import annotations

import contextlib
import datetime as dt
import importlib.metadata
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from palprep import system
from palprep._version import __version__
from palprep.dossier.chain import (
    REPLACED,
    ConsentCheck,
    Dossier,
    EntryKind,
    FileProof,
    Flaw,
    extended,
    verify_dossier,
)
from palprep.errors import DossierUnusable, UsageError
from palprep.media.sources import sha256_of
from palprep.preflight import Prepared
from palprep.rules import Check
from palprep.rules.consent import CONSENT_DOUBTS
from palprep.storage import write_text
from palprep.values import typed

DOSSIER_SUFFIX = ".consent.json"

_CHECKED = ("face_seen_throughout", "one_person_throughout", *CONSENT_DOUBTS)

_TOOLS = ("av", "opencv-python-headless", "onnxruntime")
"""The packages that measure, besides palprep itself."""

FileUse = Literal["output", "code", "source"]
"""The prepared video; the video with the fresh code; the file that both were made of."""

FileState = Literal["unchanged", "changed", "missing", "removed", "not compared"]
"""``removed``: on purpose, as the dossier records."""


class ExaminedFile(NamedTuple):
    """A recorded file, and how it compares with the one that is there now."""

    what: FileUse
    proof: FileProof
    path: Path | None
    """Where it was looked for; None when its place is not known."""
    state: FileState


class ExaminedDossier(NamedTuple):
    """A dossier, compared with the files that it is about. Without ``flaws`` it is intact."""

    path: Path
    dossier: Dossier
    files: tuple[ExaminedFile, ...]
    flaws: tuple[Flaw, ...]
    with_journal: bool
    """Whether it was compared with the journal of its run."""

    @property
    def replaced(self) -> bool:
        """Whether another video lies where the dossier's own video was."""
        removal, output = self.dossier.removal, self.files[:1]
        gone = any(each.state == "removed" for each in output)
        return gone and removal is not None and removal.note == REPLACED


def keep_dossier(
    prepared: Prepared, *, person: str, written_at: dt.datetime, compared: tuple[Check, ...] = ()
) -> Path | None:
    """Write the dossier of a prepared video, and return its path; None for a video in which nobody
    listened for consent. The name of the dossier holds that of the video and the beginning of its
    SHA-256, so that no other dossier takes its place. A dossier that is there already is verified
    and kept; new evidence is added where the video is judged differently now. Of the ``compared``
    files, only checks that compare this video are recorded. Raises DossierUnusable for a dossier
    that was changed, and OutputUnwritable."""
    facts = prepared.report.facts
    if facts is None or facts.consent is None:
        return None
    video, source, code = prepared.path, Path(prepared.source), prepared.evidence
    path = dossier_path(prepared)
    checks = tuple(
        ConsentCheck(id=each.id, outcome=each.outcome, sentence=each.sentence)
        for each in (
            *(check for check in prepared.report.checks if check.id in _CHECKED),
            *(check for check in compared if prepared.sha256 in check.files),
        )
    )
    there = read_dossier(path) if path.exists() else None
    if there is not None:
        _require_intact(there, path)
        if (there.evidence.consent, there.evidence.checks) == (facts.consent, checks):
            return path
    tools = {"palprep": __version__, "profile": prepared.report.profile}
    for name in _TOOLS:
        # OpenCV may come from another package.
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            tools[name] = importlib.metadata.version(name)
    evidence: dict[str, Any] = {
        "consent": facts.consent,
        "source": _proof(source, prepared.source_sha256),
        "output": FileProof(
            name=video.name, sha256=prepared.sha256, size_bytes=facts.file.size_bytes
        ),
        "code": _proof(code.path, code.sha256) if code else None,
        "written_at": written_at,
        "checks": checks,
        "tools": tools,
    }
    if there is None:
        _write(path, extended(Dossier(entries=()), kind="evidence", person=person, **evidence))
    else:
        add_entry(path, kind="evidence", **evidence)
    return path


def dossier_path(prepared: Prepared) -> Path:
    """The path of the dossier of a prepared video, next to it, whether it exists or not."""
    video = prepared.path
    return video.with_name(f"{video.stem}-{prepared.sha256[:12]}{DOSSIER_SUFFIX}")


def read_dossier(path: Path) -> Dossier:
    """The dossier in a file. Raises UsageError for a file that cannot be read, DossierUnusable for
    one that is not a dossier."""
    try:
        dossier = Dossier.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"The dossier {path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        if "schema_name" in first["loc"]:
            raise DossierUnusable(
                f"{path} was written by another version of palprep, as {first['input']}: read it "
                "with that version, since its entries are proved as they were written. If the "
                "consent was not taken back in it, move it to another folder, and `palprep run` "
                "writes a new one"
            ) from None
        raise DossierUnusable(
            f"{path} is no consent dossier, or was damaged: {first['msg']}"
        ) from None
    if not dossier.entries:
        raise DossierUnusable(f"{path} holds no entry: restore the dossier from a copy")
    return dossier


@typed("path", "source", "video", "kept")
def examine_dossier(
    path: str | Path,
    *,
    source: str | Path | None = None,
    video: str | Path | None = None,
    kept: Dossier | None = None,
) -> ExaminedDossier:
    """Compare a dossier and the files that it is about with what was recorded. Nothing is written.

    ``video`` is the prepared video, by default the one next to the dossier; ``source`` is the file
    that the video was made of. ``kept`` is the dossier as the journal of its run holds it: only the
    comparison with that finds a chain that was written anew. Raises as :func:`read_dossier`.
    """
    place = Path(path)
    dossier = read_dossier(place)
    flaws = list(verify_dossier(dossier))
    if kept is not None and dossier.entries[: len(kept.entries)] != kept.entries:
        flaws.append(Flaw(None, "is not the one that the journal of the run holds"))
    evidence, files = dossier.evidence, []
    absent: FileState = "missing" if dossier.removal is None else "removed"
    if evidence.output is not None:
        output = Path(video) if video else place.with_name(evidence.output.name)
        files.append(_examined_file("output", evidence.output, output, absent))
    if evidence.code is not None:
        code = Path(video or place).with_name(evidence.code.name)
        files.append(_examined_file("code", evidence.code, code, absent))
    if evidence.source is not None:
        made_of = Path(source) if source else None
        files.append(_examined_file("source", evidence.source, made_of, "missing"))
    for file in files:
        if file.state == "missing":
            flaws.append(Flaw(evidence.number, f"{file.path} is not there"))
        elif file.state == "changed" and file.path is not None:
            flaws.append(Flaw(evidence.number, f"{file.path.name} was changed since"))
    return ExaminedDossier(
        place, dossier, tuple(files), tuple(flaws), with_journal=kept is not None
    )


def add_entry(path: Path, *, kind: EntryKind, written_at: dt.datetime, **fields: Any) -> Dossier:
    """Add an entry to a dossier's file, as :func:`palprep.dossier.chain.extended` does. Raises
    UsageError when there is no file, DossierUnusable when it was changed, OutputUnwritable."""
    with sole_writer(path) as add:
        return add(kind=kind, written_at=written_at, **fields)


@contextlib.contextmanager
def sole_writer(path: Path) -> Iterator[Callable[..., Dossier]]:
    """Gives a function that adds entries as :func:`add_entry`, while other programs wait."""

    def add(**fields: Any) -> Dossier:
        longer = extended(read_dossier(path), **fields)
        _write(path, longer)
        return longer

    while True:
        try:
            locked = system.lockable(path)
            handle = os.open(locked, os.O_RDWR)
        except OSError as error:
            raise UsageError(f"The dossier {path} cannot be changed: {error.strerror}") from None
        try:
            system.lock(handle, wait=True)
            # Another program may have replaced the file while this one waited for the lock.
            if path.exists() and os.path.samestat(os.fstat(handle), locked.stat()):
                _require_intact(read_dossier(path), path)
                yield add
                return
        finally:
            os.close(handle)


def put_back(path: Path, kept: Dossier) -> None:
    """Write the dossier that the journal of its run keeps, where the file is gone or is an older
    copy. Raises DossierUnusable where the file holds another dossier, and OutputUnwritable."""
    there = read_dossier(path).entries if path.exists() else ()
    both = min(len(there), len(kept.entries))
    if there[:both] != kept.entries[:both]:
        raise DossierUnusable(
            f"The consent dossier {path} is not the one that the journal of the run holds: move it "
            "to another folder, and the next run puts the journal's own into its place"
        )
    if len(there) < len(kept.entries):
        _write(path, kept)


def add_end(path: Path, ended: Dossier, *, written_at: dt.datetime) -> Dossier:
    """Record in a dossier that the consent was taken back or has expired, as the ``ended`` dossier
    of the same source or take says."""
    taken_back, note = ended.revoked_at, f"As recorded for {ended.evidence.person}."
    kind: EntryKind = "revocation" if taken_back else "expiry"
    when = {"revoked_at": taken_back} if taken_back else {"expires_at": ended.expires_at}
    return add_entry(path, kind=kind, written_at=written_at, note=note, **when)


def _require_intact(dossier: Dossier, path: Path) -> None:
    flaws = verify_dossier(dossier)
    if flaws:
        raise DossierUnusable(
            f"The consent dossier {path} was changed after it was written: entry "
            f"{flaws[0].entry} {flaws[0].problem}. Restore it from a copy"
        )


def _examined_file(
    what: FileUse, proof: FileProof, path: Path | None, absent: FileState
) -> ExaminedFile:
    """``absent`` is the state of a file that is not there."""
    state: FileState
    if path is None:
        state = "not compared"
    elif not path.is_file():
        state = absent
    elif sha256_of(path) == proof.sha256:
        state = "unchanged"
    else:
        # After a removal, another file may have the name.
        state = "removed" if absent == "removed" else "changed"
    return ExaminedFile(what, proof, path, state)


def _write(path: Path, dossier: Dossier) -> None:
    write_text(path, dossier.model_dump_json(indent=2))


def _proof(path: Path, sha256: str) -> FileProof:
    # A worker elsewhere may have fetched it.
    size_bytes = path.stat().st_size if path.is_file() else None
    return FileProof(name=path.name, sha256=sha256, size_bytes=size_bytes)
