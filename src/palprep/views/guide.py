"""The recording guide for one person: what to say, how to record, in one page to print or send.

``guides/<language>.toml`` holds the words. The numbers in them are the profile's limits. The
statement of consent stays in the language in which it must be said.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from palprep.errors import UsageError
from palprep.rules import Profile
from palprep.values import Role, Value
from palprep.views.html import environment

_PLACE = re.compile(r"\{(\w+)\}")


class _Section(Value):
    title: str
    lead: str
    points: tuple[str, ...]
    statement: bool = False
    drawing: bool = False


class _Guide(Value):
    name: str
    title: str
    for_whom: str
    intro: str
    alone: str
    good: str
    wrong: tuple[str, ...]
    sections: tuple[_Section, ...]
    recording: Mapping[str, str]
    """The words of the page on which a person is recorded."""


def languages_of(kind: str) -> tuple[str, ...]:
    """The languages (ISO 639-1) that there are of ``guides`` or ``messages``, sorted."""
    files = resources.files("palprep.views").joinpath(kind).iterdir()
    return tuple(sorted(each.name.removesuffix(".toml") for each in files))


def words_in(kind: str, language: str) -> dict[str, Any]:
    """The words of ``guides`` or ``messages``. Raises UsageError for a language without them."""
    known = languages_of(kind)
    if language not in known:
        raise UsageError(f"There are no {kind} in {language!r}: choose one of {', '.join(known)}")
    file = resources.files("palprep.views").joinpath(kind, f"{language}.toml")
    return tomllib.loads(file.read_text("utf-8"))


def guide_page(full_name: str, *, statement: str, profile: Profile, language: str = "en") -> str:
    """The guide as HTML that needs nothing else: nothing is fetched, and nothing runs.

    ``statement`` holds the name already. Raises UsageError for a language without a guide.
    """
    guide = _Guide.model_validate(words_in("guides", language))
    places = _places(profile)
    sections = [
        section.model_copy(
            update={
                "points": tuple(
                    point.format(**places)
                    for point in section.points
                    if places.keys() >= set(_PLACE.findall(point))
                )
            }
        )
        for section in guide.sections
    ]
    return (
        environment()
        .get_template("guide.html.j2")
        .render(
            language=language,
            guide=guide,
            sections=sections,
            full_name=full_name,
            statement=statement,
        )
    )


def _places(profile: Profile) -> Mapping[str, str]:
    """The limits that guides name, as far as the profile has them. A range takes what is best."""
    least, most = profile.tightest_minimum, profile.tightest_maximum
    video, voice = Role.TRAINING_VIDEO, Role.VOICE_AUDIO
    found = {
        "consent_s": most(Role.CONSENT_VIDEO, "video_duration"),
        "portrait_px": least(Role.FACE_IMAGE, "image_resolution"),
        "voice_s_from": least(voice, "voice_speech_length"),
        "voice_s_to": most(voice, "voice_speech_length"),
        "video_s_from": least(video, "video_duration"),
        "video_s_to": most(video, "video_duration"),
        "video_lines": least(video, "video_resolution"),
        "video_fps": least(video, "video_frame_rate"),
        "video_mb": most(video, "file_size"),
    }
    return {place: f"{limit:g}" for place, limit in found.items() if limit is not None}
