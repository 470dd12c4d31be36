"""The facts that rules need of a file, and what they answer where these are missing."""

from __future__ import annotations

from typing import NamedTuple

from palprep import media
from palprep.consent import ConsentFacts, LipsFacts
from palprep.facts import Facts, Timeline
from palprep.rules.rule import Answer, Measured, Need
from palprep.rules.texts.words import REASONS, Unmeasured
from palprep.speech import VoiceFacts
from palprep.values import Outcome, Rect
from palprep.vision import FootageFacts, FrameSample, Framing, PortraitFacts, Quality, SubjectFacts

BARELY_VISIBLE = 0.5
"""Visibility of a face below which age, colour and photographic look are not judged."""

PERSON_THERE = 0.25
"""Least share of a portrait that the mask of a person covers."""

NO_FACE = REASONS["no_face"]
HIDDEN = REASONS["hidden"]
NOT_LISTENED = REASONS["not_listened"]
NOT_FOUND = REASONS["not_found"]
KEY_FRAMES_ONLY = REASONS["key_frames_only"]
NO_FRAMES = REASONS["no_frames"]


class Framed(NamedTuple):
    framing: Framing
    portrait: PortraitFacts


def face_place(facts: Facts) -> Rect | None:
    """Where the largest face of a portrait stands."""
    framing = facts.portrait and facts.portrait.framing
    return framing.face if framing else None


def _skin(portrait: PortraitFacts) -> Quality | Unmeasured:
    if portrait.framing is None:
        return NO_FACE
    if portrait.subject is None or portrait.subject.visibility.whole < BARELY_VISIBLE:
        return REASONS["covered"]
    return portrait.quality


def face_or(
    nobody: Measured | Unmeasured, somebody: Measured | Unmeasured, hidden: Measured | Unmeasured
) -> Need[SubjectFacts]:
    """The largest face. ``nobody`` answers for a portrait that shows no one, ``somebody`` for one
    that shows a person and no face, ``hidden`` for a face that is there and cannot be made out.
    """

    def get(portrait: PortraitFacts) -> SubjectFacts | Measured | Unmeasured:
        if portrait.framing is None:
            return nobody if portrait.person_share < PERSON_THERE else somebody
        return portrait.subject or hidden

    return PORTRAIT.then(get)


def _structure(facts: Facts) -> Timeline | Answer:
    if facts.timeline is None or facts.audio is None:
        return None
    return NOT_LISTENED if facts.voice is None else facts.timeline


def _consent(facts: Facts) -> ConsentFacts | Answer:
    if facts.audio is None:
        return None
    if facts.consent is None:
        return REASONS["no_name"]
    if facts.consent.outcome is Outcome.UNKNOWN:
        return Unmeasured(reason=" ".join(facts.consent.reasons))
    return facts.consent


FACTS: Need[Facts] = Need(lambda facts: facts)
FILE: Need[media.FileFacts] = Need(lambda facts: facts.file)
IMAGE: Need[media.ImageFacts] = Need(lambda facts: facts.image)
AUDIO: Need[media.AudioFacts] = Need(lambda facts: facts.audio)
"""The sound of a recording or of a video."""
LEVELS: Need[media.AudioLevels] = AUDIO.then(lambda audio: audio.levels, REASONS["no_levels"])
VIDEO: Need[media.VideoFacts] = Need(lambda facts: facts.video)
SIGNAL: Need[media.SignalFacts] = VIDEO.then(lambda video: video.signal, NO_FRAMES)
EVERY_FRAME: Need[media.SignalFacts] = SIGNAL.then(
    lambda signal: None if signal.cuts is None else signal, KEY_FRAMES_ONLY
)
"""The signal, where all frames were looked at and not only key frames."""
TIMING: Need[media.TimingFacts] = VIDEO.then(lambda video: video.timing)
FOOTAGE: Need[FootageFacts] = Need(
    lambda facts: (facts.footage or NO_FRAMES) if facts.video is not None else None
)
SEEN: Need[tuple[FrameSample, ...]] = FOOTAGE.then(lambda footage: footage.seen or None, NO_FACE)
"""The frames that show a face, one at the least."""
VOICE: Need[VoiceFacts] = Need(
    lambda facts: facts.voice or (None if facts.audio is None else NOT_LISTENED)
)
TIMELINE: Need[Timeline] = Need(lambda facts: facts.timeline)
"""The timeline of a video: moments are told in the time of a player."""
STRUCTURE: Need[Timeline] = Need(_structure)
"""The timeline of a video with sound that was listened to."""
LIPS: Need[LipsFacts] = STRUCTURE.beside(FACTS).then(
    lambda heard: heard[1].lips, REASONS["no_lips"]
)
"""The lips while the statement is spoken, or else while somebody speaks."""
PORTRAIT: Need[PortraitFacts] = Need(
    lambda facts: facts.portrait or (None if facts.image is None else REASONS["not_looked"])
)
FRAMED: Need[Framed] = PORTRAIT.then(
    lambda portrait: Framed(portrait.framing, portrait) if portrait.framing else None, NO_FACE
)
SKIN: Need[Quality] = PORTRAIT.then(_skin)
"""The look of a face that is bare."""
FACE: Need[SubjectFacts] = face_or(NO_FACE, NO_FACE, HIDDEN)
CONSENT: Need[ConsentFacts] = Need(_consent)
"""A statement that was listened for."""
STATED: Need[ConsentFacts] = CONSENT.then(
    lambda consent: None if consent.starts_at is None else consent, NOT_FOUND
)
"""A statement that was found."""
