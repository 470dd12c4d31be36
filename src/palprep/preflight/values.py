"""Values: what is asked of a file, which content can fill which role, and what came of it.

Reading them needs no decoder.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Self

from pydantic import Field, model_validator

from palprep.errors import MediaError
from palprep.escaping import escaped
from palprep.facts import Speaker
from palprep.fixes import FixDone
from palprep.media.sources import Source
from palprep.rules import Profile, Report
from palprep.speech import SpeakerFacts, VoiceFacts
from palprep.values import Kind, Role, Value


class CheckRequest(NamedTuple):
    """What is asked of one file, here or in a worker: see :func:`check`."""

    profile: Profile
    role: Role | None
    speaker: Speaker | None
    consent_apart: bool
    quick: bool
    speakers: SpeakerFacts | None = None
    """Of the recording from which this one is made: known already, and not measured again."""


_VIDEOS = "MP4, MOV, WebM, MKV, AVI, MPG, MTS"
_ELSE = ". Export it as one of these, or give another file"

_TAKES = {
    Role.FACE_IMAGE: ({Kind.IMAGE}, "an image (JPEG, PNG, WebP, HEIC or HEIF)"),
    Role.VOICE_AUDIO: (
        {Kind.AUDIO, Kind.VIDEO},
        "audio (MP3, WAV, M4A, AAC, FLAC, Ogg or WebM), or a video with sound",
    ),
    Role.TRAINING_VIDEO: ({Kind.VIDEO}, f"a video ({_VIDEOS})"),
    Role.CONSENT_VIDEO: ({Kind.VIDEO}, f"a video ({_VIDEOS})"),
}
"""What each role can be filled with, and how that is told."""


def role_of(kind: Kind, stem: str) -> Role | None:
    """The role that content and, among videos, the file's name suggest; None for other content."""
    video = Role.CONSENT_VIDEO if "consent" in stem.lower() else Role.TRAINING_VIDEO
    roles = {Kind.IMAGE: Role.FACE_IMAGE, Kind.AUDIO: Role.VOICE_AUDIO, Kind.VIDEO: video}
    return roles.get(kind)


def infer_role(source: Source) -> Role:
    """The role by :func:`role_of`. Raises UnsupportedMedia for content that no role takes."""
    role = role_of(source.type.kind, source.stem)
    if role is None:
        raise source.unsupported(
            "; palprep takes images (JPEG, PNG, WebP, HEIC, HEIF), audio (MP3, WAV, M4A, AAC, "
            f"FLAC, Ogg, WebM) and video ({_VIDEOS}){_ELSE}"
        )
    return role


def kinds_of(files: tuple[Path | Source, ...]) -> tuple[Kind, ...]:
    """The kind of each file by its content; OTHER for what cannot be read, and for a folder. To be
    run in a worker, where the files are a stranger's."""
    found: list[Kind] = []
    for each in files:
        try:
            found.append(Source.of(each).type.kind)
        except MediaError:
            found.append(Kind.OTHER)
    return tuple(found)


def require_kind(source: Source, role: Role) -> None:
    """Raise UnsupportedMedia for content that cannot fill the role."""
    kinds, wanted = _TAKES[role]
    if not source.type.accepted or source.type.kind not in kinds:
        raise source.unsupported(f"; a {role.value} must be {wanted}{_ELSE}")


class Prepared(Value):
    """A file that is ready to be published, with the proof.

    ``report`` is the output's own; ``fixes`` is empty when the source was fit as it was, and the
    output is then a copy of it byte for byte. ``sha256`` is the output's, in hex, and
    ``source_sha256`` that of the source. ``consent`` is the statement as a consent video of its
    own, where it was split out. ``evidence`` holds statement and fresh code in one take, where the
    code was cut from this file; it is never published. ``source`` is the source's path, or the name
    under which it was given; ``source_voice`` is what a recording sounded like before it was fixed.
    ``print`` shows the place, the fixes and the report.
    """

    source: str
    source_sha256: str
    path: Path
    report: Report
    fixes: tuple[FixDone, ...]
    sha256: str
    consent: Prepared | None = None
    evidence: Prepared | None = None
    source_voice: VoiceFacts | None = None

    @property
    def passed(self) -> bool:
        """True when nothing failed in the new file."""
        return self.report.passed

    @property
    def mime(self) -> str | None:
        """Its MIME type, as its report says; None where that holds no facts."""
        facts = self.report.facts
        return facts.file.type.mime if facts else None

    def relocated(self, place: Callable[[Path], Path]) -> Prepared:
        """The same file at ``place(path)``, with what was cut out of the same source."""
        path, facts = place(self.path), self.report.facts
        if facts is not None:
            file = facts.file.model_copy(update={"path": str(path), "name": path.name})
            facts = facts.model_copy(update={"file": file})
        report = self.report.model_copy(update={"path": str(path), "facts": facts})
        consent = self.consent and self.consent.relocated(place)
        evidence = self.evidence and self.evidence.relocated(place)
        update = {"path": path, "report": report, "consent": consent, "evidence": evidence}
        return self.model_copy(update=update)

    @property
    def files(self) -> tuple[Prepared, ...]:
        """All that was written: this file, and what was cut out of the same source."""
        clips = (each for each in (self.consent, self.evidence) if each is not None)
        return (self, *(file for clip in clips for file in clip.files))

    def __str__(self) -> str:
        done = [f"fixed {fix.id}: {fix.did}" for fix in self.fixes] or ["copied as it was"]
        return "\n".join(
            (escaped(f"{self.source} -> {self.path}"), *map(escaped, done), str(self.report))
        )


class Asset(Value):
    """What became of one person's file in one role: ``prepared``, or the report of the source.

    ``problem`` says why it could not be prepared, where no check of the report says it.
    """

    role: Role
    source: str
    source_sha256: str | None
    """None for a source that could not be read."""
    prepared: Prepared | None = None
    source_report: Report | None = None
    problem: str | None = None
    problem_in_file: bool = False
    """Whether the file itself is the reason: another try at it is of no use."""
    seconds: float
    """Time spent on it, of the wall clock."""

    @model_validator(mode="after")
    def _one_report(self) -> Self:
        if (self.prepared is None) == (self.source_report is None):
            raise ValueError("an asset has the report of its output or of its source")
        return self

    @property
    def report(self) -> Report:
        """The report that counts: the output's if there is one."""
        reports = (self.prepared.report if self.prepared else None, self.source_report)
        return next(report for report in reports if report is not None)

    def relocated(self, place: Callable[[Path], Path]) -> Asset:
        """The same asset, with its output at ``place(path)``."""
        prepared = self.prepared and self.prepared.relocated(place)
        return self.model_copy(update={"prepared": prepared})


class Candidate(Value):
    """One image or frame in the ranking, best first."""

    path: str
    at_s: float | None
    """Presentation time of the frame, None for an image."""
    fitness: float
    """0 to 1: see :func:`palprep.preflight.comparison.fitness`."""
    failed: tuple[str, ...]
    """Ids of the face checks that fail."""
    warned: tuple[str, ...]
    fingerprint: str = Field(repr=False)
    duplicate_of: int | None
    """Rank, from 0, of the better candidate that this one nearly equals."""
    number: int = Field(default=0, repr=False)
    """Of its file, from 0, in the order in which they were given: bytes have no name. The files of
    a folder count one by one."""


class Ranking(tuple[Candidate, ...]):
    """Candidates, best first. A notebook shows them as a contact sheet."""

    __slots__ = ()
