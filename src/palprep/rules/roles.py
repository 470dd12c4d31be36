"""What an asset is for, and what can be concluded of it."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a file is for. The values are the names used on the command line."""

    FACE_IMAGE = "face-image"
    TRAINING_VIDEO = "training-video"
    CONSENT_VIDEO = "consent-video"
    VOICE_AUDIO = "voice-audio"


class Outcome(StrEnum):
    """Of one check, or of a whole report. ``UNKNOWN``: it was not measured."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"

    @property
    def passed(self) -> bool | None:
        """True for pass and warn, False for fail, None for unknown."""
        return {Outcome.PASS: True, Outcome.WARN: True, Outcome.FAIL: False}.get(self)
