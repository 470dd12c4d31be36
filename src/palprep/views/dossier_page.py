"""Consent dossiers as one HTML file for a reader without palprep: to read, print and hand on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from palprep._version import __version__
from palprep.dossier import ExaminedDossier
from palprep.errors import PalprepError, UsageError
from palprep.rules import SAME_PERSON
from palprep.storage import write_text
from palprep.values import Span, require_type, typed
from palprep.views.consent_words import code_words, entry_words, flaw_words, standing
from palprep.views.drawings.pictures import Embedded, statement_frames
from palprep.views.html import environment

_SUFFIXES = {".html", ".htm"}


def require_page_name(path: Path) -> None:
    """Raise UsageError unless the file is named as HTML: any other may be a user's own file."""
    if path.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"{path} is written as HTML: name a file such as {path.stem}.html")


@typed("examined", "target", "now")
def export_dossiers(
    examined: Sequence[ExaminedDossier], target: str | Path, *, now: dt.datetime
) -> Path:
    """Write dossiers, as :func:`palprep.dossier.files.examine_dossier` returns them, into one HTML
    file that needs nothing else, and return its path. The page says which consents are in force at
    the moment ``now``. Raises UsageError for a target that is not named as HTML, OutputUnwritable.
    """
    for each in examined:
        require_type("each of examined", each, ExaminedDossier, ": give the dossiers in a list")
    if now.tzinfo is None:
        raise UsageError("The moment of the page needs a time zone: datetime.now(UTC)")
    path = Path(target)
    require_page_name(path)
    write_text(path, dossier_page(examined, now=now))
    return path


def dossier_page(examined: Sequence[ExaminedDossier], *, now: dt.datetime) -> str:
    """The page. Values are escaped and pictures inline; it fetches nothing and runs nothing."""
    template = environment().get_template("dossier.html.j2")
    return template.render(
        dossiers=examined,
        now=now,
        version=__version__,
        standing=lambda each: standing(each, now),
        speaker=_speaker,
        same_person=SAME_PERSON.id,
        code_words=code_words,
        entry_words=entry_words,
        flaw_words=flaw_words,
    )


def _speaker(examined: ExaminedDossier) -> tuple[tuple[tuple[float, Embedded], ...], str]:
    """Frames of the video while the statement is spoken, or none and the reason."""
    consent = examined.dossier.evidence.consent
    video = next((file for file in examined.files if file.what == "output"), None)
    if consent is None or consent.starts_at is None or consent.ends_at is None:
        return (), "The statement was not found, so there are no times to show frames of."
    if video is None or video.path is None or video.state == "missing":
        return (), "The prepared video was not there when this page was made."
    if video.state == "removed":
        return (), "The prepared video was removed on purpose: the entries below say when and why."
    if video.state != "unchanged":
        return (), "The prepared video was changed since: its frames prove nothing."
    span = Span(start_s=consent.starts_at, end_s=consent.ends_at)
    try:
        found = statement_frames(video.path, span)
    except (PalprepError, OSError) as error:
        return (), f"The prepared video shows no frames: {error}"
    return found, "The prepared video shows no frames at that time."
