"""The pictures of a run's files: what they are, drawn once, kept in a folder, shown on a page."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from palprep._version import __version__
from palprep.errors import PalprepError
from palprep.fixes import atomic_output
from palprep.preflight import Asset
from palprep.rules import Report, facing_limits
from palprep.values import Role, Span
from palprep.workers import ByName

PICTURED = (Role.FACE_IMAGE, Role.TRAINING_VIDEO, Role.CONSENT_VIDEO)
"""The roles whose files show a person, the best portrait first."""

_SIDE, _FACE_SIDE = 480, 168
"""Longest sides in pixels."""

PICTURES_NAME = "pictures"
"""The name of their folder in a run's output."""

_MIMES = {".jpg": "image/jpeg", ".webp": "image/webp", ".svg": "image/svg+xml"}

_HEARD = frozenset({"select", "mix", "high_pass", "level"})
"""Fixes that change how a recording sounds."""


class Embedded(NamedTuple):
    """An encoded image or sound, and its media type."""

    data: bytes
    mime: str

    @property
    def data_uri(self) -> str:
        """All of it as an address for a ``src``."""
        return f"data:{self.mime};base64,{base64.b64encode(self.data).decode('ascii')}"


# By name: who only reads a page's addresses loads no decoder.
_THUMBNAIL: ByName[..., Embedded] = ByName("palprep.views.pictures", "thumbnail")
_TIMELINE: ByName[[Report], Embedded | None] = ByName("palprep.views.pictures", "small_timeline")
_WAVEFORM: ByName[[Path, tuple[Span, ...]], Embedded] = ByName("palprep.views.waveform", "waveform")


class Picture(NamedTuple):
    """A picture that can be drawn."""

    name: str
    """The name of its file, a digest of all it is drawn from: equal names have equal pictures."""
    draw: Callable[[], Embedded | None]
    """None where there is nothing to draw. Raises PalprepError or OSError for a file that can no
    longer be read."""


class AssetPictures(NamedTuple):
    """What there is to see of one file; None for what it does not have."""

    face: Picture | None = None
    """As small as it stands next to a name."""
    after: Picture | None = None
    """What the service sees; of a file that was not prepared, the source."""
    before: Picture | None = None
    """The source of an image that was changed."""
    timeline: Picture | None = None
    waveform: Picture | None = None
    """The recording that the service hears; of one that was not prepared, the source."""
    chosen: Picture | None = None
    """The source of a recording that sounds otherwise now, and what was chosen of it."""

    def all(self) -> Iterator[Picture]:
        """Those that there are."""
        return (picture for picture in self if picture is not None)


Show = Callable[[Picture], str | None]
"""The address of a picture for a ``src``; None where there is none, or none any more."""


def inline(make: Callable[[], Embedded | None]) -> str | None:
    """What is made, as an address for a ``src``; None where there is nothing, or nothing any more.

    A page is worth reading without it: a file that was moved or deleted since must not keep the
    page from being written.
    """
    try:
        made = make()
    except (PalprepError, OSError):
        return None
    return None if made is None else made.data_uri


def drawn_now(picture: Picture) -> str | None:
    """The picture itself as an address, kept nowhere."""
    return inline(picture.draw)


@dataclass(frozen=True)
class PictureFolder:
    """Pictures by their names in the folder ``place``."""

    place: Path

    def kept(self, picture: Picture) -> Path | None:
        """The file of a picture, drawn now unless it is there; None where it cannot be drawn.

        Raises OutputUnwritable.
        """
        path = self.place / picture.name
        if path.is_file():
            return path
        try:
            drawn = picture.draw()
        except (PalprepError, OSError):
            return None
        if drawn is None:
            return None
        with atomic_output(path, lasting=False) as temporary:
            temporary.write_bytes(drawn.data)
        return path

    def keep_all(self, asset: Asset) -> None:
        """Draw what there is to see of a file, unless it is kept already.

        Raises OutputUnwritable.
        """
        for picture in pictures_of(asset).all():
            self.kept(picture)

    def embedded(self, picture: Picture) -> str | None:
        """The picture itself as an address, for a page that must stand by itself."""
        path = self.kept(picture)
        if path is None:
            return None
        mime = _MIMES[path.suffix]
        return inline(lambda: Embedded(path.read_bytes(), mime))

    def linked_from(self, folder: Path) -> Show:
        """Addresses of the files, relative to a page in ``folder``."""

        def show(picture: Picture) -> str | None:
            path = self.kept(picture)
            return None if path is None else address(path, folder)

        return show


def address(path: Path, folder: Path) -> str:
    """The address of a file, relative to a page in ``folder``."""
    # Bytes: a name need not be text. And "./", since "a:b.mp4" would be taken for a scheme.
    return f"./{quote(os.fsencode(os.path.relpath(path, folder)))}"


def pictures_of(asset: Asset) -> AssetPictures:
    """The pictures of a file. Nothing is read or drawn yet."""
    if asset.source_sha256 is None:
        return AssetPictures()
    prepared = asset.prepared
    changed = prepared is not None and bool(prepared.fixes)
    source = Path(asset.source)
    path, sha256 = (prepared.path, prepared.sha256) if prepared else (source, asset.source_sha256)
    if asset.role is Role.VOICE_AUDIO:
        fixes = prepared.fixes if prepared else ()
        kept = tuple(span for fix in fixes for span in fix.kept)
        heard = any(fix.id in _HEARD for fix in fixes)
        return AssetPictures(
            waveform=_waveform(path, sha256),
            chosen=_waveform(source, asset.source_sha256, kept) if heard else None,
        )
    return AssetPictures(
        face=_thumbnail(path, sha256, side=_FACE_SIDE),
        after=_thumbnail(path, sha256),
        before=_thumbnail(source, asset.source_sha256)
        if changed and asset.role is Role.FACE_IMAGE
        else None,
        timeline=_timeline(asset, sha256),
    )


def _thumbnail(path: Path, sha256: str, *, side: int = _SIDE) -> Picture:
    name = _name("thumbnail", sha256, side, suffix="jpg")
    return Picture(name, partial(_THUMBNAIL, path, side=side))


def _timeline(asset: Asset, sha256: str) -> Picture | None:
    report = asset.report
    line = report.facts.timeline if report.facts else None
    if line is None:
        return None
    name = _name("timeline", sha256, line.to_json(), *facing_limits(report), suffix="webp")
    return Picture(name, partial(_TIMELINE, report))


def _waveform(path: Path, sha256: str, kept: tuple[Span, ...] = ()) -> Picture:
    return Picture(_name("waveform", sha256, *kept, suffix="svg"), partial(_WAVEFORM, path, kept))


def _name(*parts: object, suffix: str) -> str:
    # Another version may draw differently.
    digest = hashlib.sha256(repr((__version__, *parts)).encode()).hexdigest()
    return f"{digest[:32]}.{suffix}"
