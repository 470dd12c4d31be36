"""Pages for people: the guide, to print or send, with what to say and how to record; the page that
records; and the page that asks the questions of a run.

``guides/<language>.toml`` holds the words, with places for the profile's limits. The statement of
consent stays in the language in which it must be said.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from palprep import storage
from palprep.media import images, sources
from palprep.rules import Profile
from palprep.values import Role
from palprep.views.html import environment, words_in

_PLACE = re.compile(r"\{(\w+)\}")


def guide_page(
    full_name: str, *, statement: str, spoken: str, profile: Profile, language: str = "en"
) -> str:
    """The guide as HTML that needs nothing else. ``statement`` includes the name, and is in the
    language ``spoken``. Raises UsageError for a ``language`` without a guide."""
    guide, places = words_in("guides", language), _places(profile)
    for section in guide["sections"]:
        section["points"] = [
            point.format(**places)
            for point in section["points"]
            if places.keys() >= set(_PLACE.findall(point))
        ]
    template = environment().get_template("guide.html.j2")
    about = {"full_name": full_name, "statement": statement, "spoken": spoken}
    return template.render(guide=guide, language=language, **about)


def _places(profile: Profile) -> Mapping[str, str]:
    """The limits that guides name, as far as the profile has them: the tightest of each."""
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
    if (fps := found["video_fps"]) is not None:
        # Rounded up to a rate that cameras offer: the limit allows for lost frames.
        found["video_fps"] = math.ceil(fps)
    return {place: f"{limit:g}" for place, limit in found.items() if limit is not None}


def recording_page(
    full_name: str, statement: str, folder: str, *, language: str, spoken: str
) -> str:
    """The page that records a person into ``folder``; otherwise as :func:`guide_page`."""
    texts = words_in("guides", language)["recording"]
    title = texts["title"].replace("{name}", full_name)
    kept = texts["agree_kept"].replace("{folder}", folder)
    about = {"full_name": full_name, "statement": statement, "language": language}
    page = environment().get_template("record.html.j2")
    return page.render(t=texts, title=title, kept=kept, spoken=spoken, **about)


def review_page(questions: Sequence[Any], by: str, problem: str, *, running: bool) -> str:
    """The page with the questions of a run. ``by`` decided last, ``problem`` is the error of the
    last answer, and ``running`` says that the run goes on."""
    template = environment().get_template("review.html.j2")
    return template.render(questions=questions, by=by, problem=problem, running=running)


def write_thumbnail(file: sources.Source, target: Path) -> Path:
    """Write :func:`palprep.media.images.thumbnail`. Only workers call it: it decodes the file."""
    with storage.atomic_output(target, lasting=False) as temporary:
        temporary.write_bytes(images.thumbnail(file))
    return target


def agreement(folder: str, *, language: str) -> str:
    """The agreement before anything is recorded, in the words of the page."""
    texts = words_in("guides", language)["recording"]
    kept = texts["agree_kept"].replace("{folder}", folder)
    return " ".join((texts["agree_purpose"], kept, texts["agree_free"], texts["agree"]))
