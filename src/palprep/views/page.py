"""The page of a run: one HTML file that needs nothing else, made from the journal's view."""

from __future__ import annotations

import base64
import datetime as dt
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import jinja2

from palprep.batch.tasks import Asset
from palprep.errors import PalprepError
from palprep.journal.run_view import PersonView, RunView
from palprep.preflight.check_and_prepare import thumbnail
from palprep.rules.report import Check, Measure, Report
from palprep.values import Outcome, Role, Value
from palprep.views.timeline_image import timeline_png

Thumbnail = Callable[[Path], bytes]
"""A small JPEG of a picture or a video. Raises PalprepError where there is none."""

Filmstrip = Callable[[Report], bytes | None]
"""The time line of a video as PNG, None for anything else. Raises PalprepError."""

OUTCOMES: Mapping[str, tuple[str, str]] = {
    "pass": ("✓", "passed"),
    "warn": ("!", "warning"),
    "fail": ("✕", "failed"),
    "unknown": ("?", "not measured"),
}
"""Sign and word of each outcome: colour alone tells nothing to many readers, or on paper."""

STATUSES: Mapping[str, tuple[str, str, str]] = {
    "done": ("✓", "Done", "voice and replica are ready"),
    "waiting": ("…", "Waiting", "not finished yet"),
    "in_doubt": ("?", "In doubt", "wants a decision"),
    "refused": ("✕", "Refused", "not fit, nothing was created"),
    "failed": ("!", "Failed", "the service or a tool gave up"),
}

_ROLE_TITLES: Mapping[Role, str] = {
    Role.FACE_IMAGE: "Portrait",
    Role.TRAINING_VIDEO: "Training video",
    Role.CONSENT_VIDEO: "Consent video",
    Role.VOICE_AUDIO: "Voice recording",
}

_PICTURED = (Role.FACE_IMAGE, Role.TRAINING_VIDEO, Role.CONSENT_VIDEO)
_BY = "\N{MULTIPLICATION SIGN}"
_WORST_FIRST = (Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN, Outcome.PASS)


class Box(Value):
    """A region of a picture in percent of its sides, and what is wrong there."""

    left: float
    top: float
    width: float
    height: float
    label: str


def page(
    run: RunView, *, thumbnail: Thumbnail = thumbnail, filmstrip: Filmstrip = timeline_png
) -> str:
    """The whole page. Every value is escaped; pictures are inline; nothing is fetched."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("palprep.views"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        measure=shown, seconds=seconds, moment=moment, clock=clock, filename=filename
    )
    counts = Counter[str](person.status for person in run.people)
    return environment.get_template("report.html.j2").render(
        run=run,
        counts=[(status, counts[status]) for status in STATUSES if counts[status]],
        statuses=STATUSES,
        outcomes=OUTCOMES,
        role_title=lambda role: _ROLE_TITLES[Role(role)],
        picture=lambda asset: _picture(asset, thumbnail),
        filmstrip=lambda asset: _filmstrip(asset, filmstrip),
        portrait=lambda person: _portrait(person, thumbnail),
        initials=initials,
        by_outcome=by_outcome,
        gist=gist,
        boxes=boxes,
        longest=lambda person: max((t.seconds for t in person.timings), default=0.0) or 1.0,
    )


def shown(measure: Measure) -> str:
    """A measured value as people write it."""
    if measure is None:
        return "-"
    if isinstance(measure, bool):
        return "yes" if measure else "no"
    if isinstance(measure, int | float):
        return f"{measure:,.6g}" if isinstance(measure, float) else f"{measure:,}"
    if isinstance(measure, tuple | list):
        return ", ".join(measure) or "none"
    return str(measure)


def seconds(value: float) -> str:
    """A duration: ``0.42 s``, ``12.3 s``, ``2 min 05 s``."""
    if value < 10:
        return f"{value:.2f} s"
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02d} s"


def clock(value: float | None) -> str:
    """A position in a recording: ``0:03.4``."""
    if value is None:
        return "-"
    minutes, rest = divmod(value, 60)
    return f"{int(minutes)}:{rest:04.1f}"


def moment(stamp: str) -> str:
    """A journal time for reading, in UTC."""
    return dt.datetime.fromisoformat(stamp).strftime("%d %B %Y, %H:%M:%S UTC").lstrip("0")


def filename(path: str) -> str:
    """The last part of a path."""
    return Path(path).name


def initials(name: str) -> str:
    """At most two letters for a person without a picture."""
    words = [word for word in name.split() if word[:1].isalnum()]
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper() or "?"


def by_outcome(report: Report) -> list[tuple[str, tuple[Check, ...]]]:
    """The checks of each outcome that occurs, the worst outcome first."""
    groups = ((outcome.value, report.having(outcome)) for outcome in _WORST_FIRST)
    return [(outcome, checks) for outcome, checks in groups if checks]


def gist(report: Report) -> str:
    """What the file is, in half a line."""
    facts = report.facts
    if facts is None:
        return ""
    parts = [facts.file.type.format.upper(), _size(facts.file.size_bytes)]
    if facts.image is not None:
        parts.append(f"{facts.image.width} {_BY} {facts.image.height} px")
    if facts.video is not None:
        video = facts.video
        parts += [
            f"{video.width} {_BY} {video.height} px",
            f"{video.frame_rate:.4g} frames per second",
            seconds(video.duration_s),
            video.codec,
        ]
    if facts.audio is not None:
        stream = facts.audio.stream
        sound = f"{stream.codec} {stream.sample_rate_hz / 1000:.4g} kHz {stream.layout}"
        parts += [sound] if facts.video else [seconds(facts.audio.duration_s), sound]
    return " · ".join(parts)


def _size(size_bytes: int) -> str:
    if size_bytes < 1_000_000:
        return f"{size_bytes / 1000:.3g} kB"
    if size_bytes < 1_000_000_000:
        return f"{size_bytes / 1_000_000:.3g} MB"
    return f"{size_bytes / 1_000_000_000:.3g} GB"


def boxes(report: Report) -> list[Box]:
    """The regions of failed and warned checks, to draw over the picture."""
    facts = report.facts
    picture = (facts.image or facts.video) if facts else None
    if picture is None:
        return []
    return [
        Box(
            left=100 * check.region.x / picture.width,
            top=100 * check.region.y / picture.height,
            width=100 * check.region.width / picture.width,
            height=100 * check.region.height / picture.height,
            label=check.label,
        )
        for check in report.having(Outcome.FAIL, Outcome.WARN)
        if check.region is not None
    ]


def _portrait(person: PersonView, thumbnail: Thumbnail) -> str | None:
    by_role = {asset.role: asset for asset in person.assets}
    pictures = (_picture(by_role[role], thumbnail) for role in _PICTURED if role in by_role)
    return next((picture for picture in pictures if picture), None)


def _picture(asset: Asset, thumbnail: Thumbnail) -> str | None:
    if asset.role not in _PICTURED:
        return None
    # What was prepared is what the service sees; without it, the source.
    path = Path(asset.prepared.path if asset.prepared else asset.source)
    try:
        jpeg = thumbnail(path)
    except (PalprepError, OSError):
        return None
    return _inline("jpeg", jpeg)


def _filmstrip(asset: Asset, filmstrip: Filmstrip) -> str | None:
    try:
        png = filmstrip(asset.report)
    except (PalprepError, OSError):
        return None
    return None if png is None else _inline("png", png)


def _inline(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
