"""The pictures of one file of a run: what they are, and how each is drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from palprep._version import __version__
from palprep.preflight.asset import Asset
from palprep.rules.report import Report
from palprep.rules.video_person import facing_limits
from palprep.values import Role, Span
from palprep.views.embedded import Embedded
from palprep.workers.messages import ByName

PICTURED = (Role.FACE_IMAGE, Role.TRAINING_VIDEO, Role.CONSENT_VIDEO)
"""The roles whose files show a person, the best portrait first."""


_SIDE, _FACE_SIDE = 480, 168
"""Longest sides in pixels."""

_DRAWING = "palprep.views.pictures"
_THUMBNAIL: ByName[..., Embedded] = ByName(_DRAWING, "thumbnail")
_TIMELINE: ByName[[Report], Embedded | None] = ByName(_DRAWING, "small_timeline")
_WAVEFORM: ByName[[str | Path, tuple[Span, ...]], Embedded] = ByName(_DRAWING, "waveform_of")
_HEARD = frozenset({"select", "mix", "high_pass", "level"})
"""Fixes that change how a recording sounds."""


class Picture(NamedTuple):
    """A picture that can be drawn."""

    name: str
    """Of the file to keep it in: a digest of all that it is drawn from, so that equal names have
    equal pictures."""
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
