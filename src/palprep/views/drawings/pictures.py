"""Pictures and excerpts of files for pages and notebooks. A picture is drawn once and kept.

Importing this module loads no decoder, so that a page with known pictures needs none.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from palprep import consent, fixes, media, preflight, rules, speech, storage
from palprep._version import __version__
from palprep.errors import OutputUnwritable, PalprepError
from palprep.media import images, sound, sources
from palprep.values import Role, Span
from palprep.views.drawings.over_time import draw_waveform, timeline_image

PICTURED = (Role.FACE_IMAGE, Role.TRAINING_VIDEO, Role.CONSENT_VIDEO)
"""The roles whose files show a person, the best portrait first."""

PICTURES_NAME = "pictures"

MOST = 12
"""The most pictures on a contact sheet, without near copies of better candidates."""

SIDE = 200
"""Longest side in pixels of a picture on a contact sheet."""

VIEW_SIDE = 900
"""Longest side in pixels of a portrait with its findings."""

_SIDE, _FACE_SIDE = 480, 168
"""Longest sides in pixels on the page of a run: a file's picture, and a portrait by a name."""

_DRAWN = re.compile(r"[0-9a-f]{2}/[0-9a-f]{32}\.(jpg|webp|svg)")

_MIMES = {".jpg": "image/jpeg", ".svg": "image/svg+xml"}

_HEARD = frozenset({"select", "mix", "high_pass", "level"})
"""Fixes that change how a recording sounds."""

_STATEMENT_FRAMES = 5

_AROUND_S = 1.0
"""Seconds of the excerpt before and after the statement: words there count, too."""

_MOST_S = 60.0
_BEGINNING_S = 20.0
"""Seconds of a recording: enough to hear the voice, the noise and the level."""

_LEAST_S = 0.1


class Embedded(NamedTuple):
    data: bytes
    mime: str

    @property
    def data_uri(self) -> str:
        return f"data:{self.mime};base64,{base64.b64encode(self.data).decode('ascii')}"


def report_picture(report: rules.Report, *, side: int = VIEW_SIDE) -> Embedded | None:
    """The timeline of a video, or a portrait with its findings, at most ``side`` pixels long; None
    for other files. Raises MediaError when the file can no longer be read."""
    from palprep.views.drawings.portrait import portrait_overlay  # noqa: PLC0415 -- loads OpenCV

    drawn = timeline_image(report) or portrait_overlay(report, side=side)
    return _svg(drawn) if drawn else None


def write_picture(report: rules.Report, target: Path) -> Path | None:
    """Write :func:`report_picture`, if there is one. Also raises OutputUnwritable."""
    picture = report_picture(report)
    if picture is None:
        return None
    with storage.atomic_output(target) as temporary:
        temporary.write_bytes(picture.data)
    return target


def _svg(drawn: str) -> Embedded:
    return Embedded(drawn.encode(), "image/svg+xml")


def waveform(voice: speech.VoiceFacts, kept: Sequence[Span] = ()) -> Embedded:
    return _svg(draw_waveform(voice, kept=kept))


def statement_frames(video: Path, statement: Span) -> tuple[tuple[float, Embedded], ...]:
    """A few small frames of the statement: times in seconds, and JPEGs. Raises MediaError when the
    video can no longer be read."""
    step_s = statement.duration_s / _STATEMENT_FRAMES
    times_s = [statement.start_s + (part + 0.5) * step_s for part in range(_STATEMENT_FRAMES)]
    found = images.frames_at(sources.Source.of(video), times_s)
    return tuple((at_s, Embedded(data, "image/jpeg")) for at_s, data in found)


class Shot(NamedTuple):
    rank: int
    """From 1, among all candidates."""
    candidate: preflight.Candidate
    picture: str | None
    """A ``data:`` URL; None for a file that can no longer be read."""


def shots(ranking: Iterable[preflight.Candidate]) -> tuple[Shot, ...]:
    """The best candidates that differ from each other, with their pictures."""
    numbered = [
        (rank, each) for rank, each in enumerate(ranking, start=1) if each.duplicate_of is None
    ][:MOST]
    pictures = dict(_shown(each for _, each in numbered))
    return tuple(Shot(rank, each, pictures.get((each.path, each.at_s))) for rank, each in numbered)


def _shown(
    candidates: Iterable[preflight.Candidate],
) -> Iterator[tuple[tuple[str, float | None], str]]:
    """The picture of each, by path and time; a video is decoded once for all its frames."""
    ordered = sorted(candidates, key=lambda each: (each.path, each.at_s or 0.0))
    for path, group in groupby(ordered, key=lambda each: each.path):
        times = [each.at_s for each in group]
        moments = [at_s for at_s in times if at_s is not None]
        with contextlib.suppress(PalprepError, OSError):
            source = sources.Source.of(path)
            if moments:
                drawn = [data for _, data in images.frames_at(source, moments, max_side=SIDE)]
            else:
                drawn = [images.thumbnail(source, max_side=SIDE)]
            for at_s, data in zip(times, drawn, strict=False):
                yield (path, at_s), Embedded(data, "image/jpeg").data_uri


def statement_audio(path: str | Path, facts: consent.ConsentFacts) -> Embedded | None:
    """The statement in a file, with a second around it, or the opening if it was not found: a mono
    MP3 of at most a minute; None without audio. Raises MediaError when the file can no longer be
    read, ToolError when ffmpeg gives up."""
    start_s = max(0.0, (facts.starts_at or 0.0) - _AROUND_S)
    known_end_s = math.inf if facts.ends_at is None else facts.ends_at + _AROUND_S
    return _audio_excerpt(path, start_s, min(start_s + _MOST_S, known_end_s))


def beginning(path: str | Path) -> Embedded | None:
    """The first 20 s of a file's audio; otherwise as :func:`statement_audio`."""
    return _audio_excerpt(path, 0.0, _BEGINNING_S)


def _audio_excerpt(path: str | Path, start_s: float, end_s: float) -> Embedded | None:
    source = sources.Source.of(path)
    audio = sound.probe_audio(source)
    end_s = min(end_s, media.glimpse(source)[0])  # The sound may start later than the picture.
    if end_s - start_s < _LEAST_S:
        return None
    span = Span(start_s=start_s, end_s=end_s)
    return Embedded(fixes.mp3_excerpt(source, audio.stream.index, span), "audio/mpeg")


class Picture(NamedTuple):
    name: str
    """Its file in the folder of pictures: a digest of everything it is drawn from, so that equal
    names mean equal pictures. The first two digits are a subfolder, so that none is too large."""
    draw: Callable[[], Embedded | None]
    """Returns None if there is nothing to draw. Raises PalprepError or OSError for a missing file.
    """


class AssetPictures(NamedTuple):
    """The pictures of one file; None for those that it does not have."""

    face: Picture | None = None
    """Small, to stand next to a name."""
    after: Picture | None = None
    """The prepared image or video, or else the source."""
    before: Picture | None = None
    """The source of an image that was changed."""
    timeline: Picture | None = None
    waveform: Picture | None = None
    """The prepared recording, or else the source."""
    chosen: Picture | None = None
    """The source of a recording whose audio was changed, with the kept parts marked."""

    def all(self) -> Iterator[Picture]:
        return (picture for picture in self if picture is not None)


Show = Callable[[Picture], str | None]
"""Returns the URL of a picture; None if it cannot be drawn, or no longer."""


def inline(make: Callable[[], Embedded | None]) -> str | None:
    """The result of ``make`` as a ``data:`` URL; None if it made nothing or the file is gone."""
    made = _made(make)
    return None if made is None else made.data_uri


def _made(make: Callable[[], Embedded | None]) -> Embedded | None:
    try:
        return make()
    except (PalprepError, OSError):
        return None


@dataclass(frozen=True)
class PictureFolder:
    """Pictures by their names in the folder ``place``."""

    place: Path

    def kept(self, picture: Picture) -> Path | None:
        """The file of a picture, drawn if it is missing; None if it cannot be drawn. Raises
        OutputUnwritable."""
        path = self.place / picture.name
        if path.is_file():
            return path
        drawn = _made(picture.draw)
        if drawn is None:
            return None
        with storage.atomic_output(path, lasting=False) as temporary:
            temporary.write_bytes(drawn.data)
        return path

    def drawn(self) -> Iterator[str]:
        """The names of the pictures in the folder. Other files were not drawn by palprep. Raises
        OutputUnwritable for a folder that may not be looked into: glob would pass it over."""
        try:
            folders = filter(Path.is_dir, self.place.iterdir()) if self.place.is_dir() else ()
            found = [each for folder in folders for each in folder.iterdir()]
        except OSError as error:
            raise OutputUnwritable(
                f"{error.filename} cannot be looked into ({error.strerror}): see to it, and run "
                "the same command again"
            ) from None
        return filter(_DRAWN.fullmatch, (each.relative_to(self.place).as_posix() for each in found))

    def embedded(self, picture: Picture) -> str | None:
        """The picture as a ``data:`` URL, for a page that needs no other file."""
        path = self.kept(picture)
        if path is None:
            return None
        return inline(lambda: Embedded(path.read_bytes(), _MIMES[path.suffix]))

    def linked_from(self, folder: Path) -> Show:
        """A function for the URLs of the files, relative to a page in ``folder``."""

        def show(picture: Picture) -> str | None:
            path = self.kept(picture)
            return None if path is None else relative_url(path, folder)

        return show


def relative_url(path: Path, folder: Path) -> str:
    """The URL of a file, relative to a page in ``folder``."""
    # As bytes, because a name need not be text. "./" keeps "a:b.mp4" from having a scheme.
    return f"./{quote(os.fsencode(os.path.relpath(path, folder)))}"


def pictures_of(asset: preflight.Asset) -> AssetPictures:
    """The pictures of a file. Nothing is read or drawn yet."""
    if asset.source_sha256 is None:
        return AssetPictures()
    prepared, source = asset.prepared, Path(asset.source)
    path, sha256 = (prepared.path, prepared.sha256) if prepared else (source, asset.source_sha256)
    done = prepared.fixes if prepared else ()
    if asset.role is Role.VOICE_AUDIO:
        kept = tuple(span for fix in done for span in fix.kept)
        heard = any(fix.id in _HEARD for fix in done)
        facts = asset.report.facts
        before = prepared.source_voice if prepared and heard else None
        return AssetPictures(
            waveform=_waveform(facts.voice if facts else None, sha256),
            chosen=_waveform(before, asset.source_sha256, kept),
        )
    return AssetPictures(
        face=_thumbnail(path, sha256, side=_FACE_SIDE),
        after=_thumbnail(path, sha256),
        before=_thumbnail(source, asset.source_sha256)
        if done and asset.role is Role.FACE_IMAGE
        else None,
        timeline=_timeline(asset, sha256),
    )


def _thumbnail(path: Path, sha256: str, *, side: int = _SIDE) -> Picture:
    def draw() -> Embedded:
        return Embedded(images.thumbnail(sources.Source.of(path), max_side=side), "image/jpeg")

    return Picture(_name("thumbnail", sha256, side, suffix="jpg"), draw)


def _timeline(asset: preflight.Asset, sha256: str) -> Picture | None:
    report = asset.report
    line = report.facts.timeline if report.facts else None
    if line is None:
        return None
    name = _name("timeline", sha256, line.to_json(), *rules.facing_limits(report), suffix="svg")
    return Picture(name, lambda: report_picture(report))


def _waveform(
    voice: speech.VoiceFacts | None, sha256: str, kept: tuple[Span, ...] = ()
) -> Picture | None:
    if voice is None:
        return None
    return Picture(_name("waveform", sha256, *kept, suffix="svg"), partial(waveform, voice, kept))


def _name(*parts: object, suffix: str) -> str:
    # The version is part of it: another one may draw differently.
    digest = hashlib.sha256(repr((__version__, *parts)).encode()).hexdigest()
    return f"{digest[:2]}/{digest[:32]}.{suffix}"
