"""Consent dossiers as one HTML file for a reader without palprep: to read, print and hand on.

It also tells what a dossier does not show, for the reader who must judge without it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from palprep._version import __version__
from palprep.dossier import ExaminedDossier, FileState
from palprep.errors import PalprepError, UsageError
from palprep.fixes import atomic_output
from palprep.rules import SAME_PERSON
from palprep.values import Outcome, Span
from palprep.views.consent_words import entry_words, flaw_words, standing
from palprep.views.html import environment
from palprep.views.pictures import Embedded, statement_frames

_SUFFIXES = {".html", ".htm"}

Frames = Callable[[Path, Span], tuple[tuple[float, Embedded], ...]]
"""Frames of a video while the statement is spoken. Raises PalprepError where there are none."""


class Shown(NamedTuple):
    """Frames of the speaker, or why there are none."""

    frames: tuple[tuple[float, Embedded], ...]
    missing: str = ""


def export_dossiers(
    examined: Sequence[ExaminedDossier], target: str | Path, *, now: dt.datetime
) -> Path:
    """Write dossiers as one HTML file that needs nothing else, and return its path.

    The dossiers are those that :func:`palprep.dossier.files.examine_dossier` returned; they and
    their videos are only read. ``now`` is the moment at which a consent is in force or is not.

    Raises UsageError for a target that is not named as HTML, OutputUnwritable.
    """
    path = Path(target)
    if path.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"A dossier is exported as HTML: name a file such as {path.stem}.html")
    text = dossier_page(examined, now=now)
    with atomic_output(path) as temporary:
        temporary.write_text(text, "utf-8", errors="backslashreplace")
    return path


def dossier_page(
    examined: Sequence[ExaminedDossier], *, now: dt.datetime, frames: Frames = statement_frames
) -> str:
    """The whole page. Every value is escaped; pictures are inline; nothing is fetched and
    nothing runs.
    """
    template = environment().get_template("dossier.html.j2")
    return template.render(
        dossiers=examined,
        now=now,
        version=__version__,
        standing=lambda each: standing(each, now),
        speaker=lambda each: _speaker(each, frames),
        unverified=unverified,
        entry_words=entry_words,
        flaw_words=flaw_words,
    )


def _speaker(examined: ExaminedDossier, frames: Frames) -> Shown:
    """Frames of the prepared video, of exactly the file that was recorded."""
    consent = examined.dossier.evidence.consent
    video = next((file for file in examined.files if file.what == "output"), None)
    if consent is None or consent.starts_at is None or consent.ends_at is None:
        return Shown((), "The statement was not found, so there are no times to show frames of.")
    if video is None or video.path is None or video.state == "missing":
        return Shown((), "The prepared video was not there when this page was made.")
    if video.state != "unchanged":
        return Shown((), "The prepared video was changed since: its frames prove nothing.")
    span = Span(start_s=consent.starts_at, end_s=consent.ends_at)
    try:
        found = frames(video.path, span)
    except (PalprepError, OSError) as error:
        return Shown((), f"The prepared video shows no frames: {error}")
    return Shown(found, "" if found else "The prepared video shows no frames at that time.")


class Unverified(NamedTuple):
    """One thing that was not verified: in a few words, and what follows from it."""

    what: str
    why: str


_NEVER = (
    Unverified(
        what="Who the person is",
        why="No identity document was looked at. Faces were compared only between the "
        "person's own files, where the checks on this page say so.",
    ),
    Unverified(
        what="The spelling of the name",
        why="A name is compared by its sound. Names that sound alike are not told apart.",
    ),
    Unverified(
        what="That the recording is genuine",
        why="Whether a living person spoke in front of the camera was not tested. A synthetic or "
        "altered video, or a replayed one, is not recognised as such.",
    ),
    Unverified(
        what="Free will, age and legal capacity",
        why="Nothing shows whether the person spoke freely, understood the statement, or was of "
        "age.",
    ),
    Unverified(
        what="When it was recorded",
        why="The times of the entries are those of the computer that wrote them. No trusted "
        "timestamp was asked for.",
    ),
    Unverified(
        what="Who wrote the entries",
        why="The entries are chained, but not signed. Whoever can replace the file can write a "
        "new chain.",
    ),
    Unverified(
        what="That the last entry is the last",
        why="A chain does not show that entries were taken away from its end, such as a "
        "revocation. Compare the last sha256 with a copy that is kept elsewhere.",
    ),
    Unverified(
        what="The words, by a person",
        why="Speech recognition read the statement, and it can err. Listen to the video.",
    ),
    Unverified(
        what="Whether the statement suffices",
        why="palprep compares words. It does not judge whether they are valid consent under any "
        "law.",
    ),
)

_NOT_THERE: Mapping[FileState, str] = {
    "missing": "It was not in its place.",
    "not compared": "No one named its place when this page was made.",
}


def unverified(examined: ExaminedDossier) -> tuple[Unverified, ...]:
    """Everything that this dossier leaves open: what palprep never verifies, then what was not
    verified this time."""
    return (*_NEVER, *_this_time(examined))


def _this_time(examined: ExaminedDossier) -> Iterator[Unverified]:
    evidence = examined.dossier.evidence
    if not any(check.id == SAME_PERSON.id for check in evidence.checks):
        yield Unverified(
            what="The same person in all files",
            why="No comparison with the faces in the person's other files is on record.",
        )
    for check in evidence.checks:
        if check.outcome == Outcome.UNKNOWN:
            yield Unverified(what=f"What {check.id} asks", why=check.sentence)
    for file in examined.files:
        if file.state in _NOT_THERE:
            yield Unverified(
                what=f"The file {file.proof.name}",
                why=f"{_NOT_THERE[file.state]} It was not compared with its recorded sha256.",
            )
    if not examined.with_journal:
        yield Unverified(
            what="The journal of the run",
            why="The dossier was not compared with the journal. The journal alone tells a chain "
            "that was written anew from its start.",
        )
