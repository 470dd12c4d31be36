"""Everything that was measured of one file, the only thing that rules see; and its speaker."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from palprep.api import Given
from palprep.consent import ConsentFacts, LipsFacts, StatementReading
from palprep.consent.wording import AskedCode, Statement, statement_for
from palprep.facts.timeline import Timeline, timeline_of
from palprep.media import AudioFacts, FileFacts, ImageFacts, VideoFacts
from palprep.speech import VoiceFacts
from palprep.values import Value
from palprep.vision import FootageFacts, PortraitFacts


class Facts(Value):
    """One file's facts. A part that was not measured, or does not apply, is None."""

    file: FileFacts
    image: ImageFacts | None = None
    recording: AudioFacts | None = None
    """The audio of an audio file; that of a video is in ``video.audio``."""
    video: VideoFacts | None = None
    portrait: PortraitFacts | None = None
    """What an image shows, or a typical frame of a video; None where nothing was looked at."""
    footage: FootageFacts | None = None
    """The person in a video, over time."""
    voice: VoiceFacts | None = None
    """What the audio sounds like; None where it was not listened to."""
    statement: StatementReading | None = None
    """What was read of the statement of consent; None where no name was given to listen for."""
    lips: LipsFacts | None = None
    """The lips while the statement, or else anything, is spoken; None without speech."""
    consent: ConsentFacts | None = None
    """What a profile's limits make of that reading; None until rules have graded it."""

    @property
    def audio(self) -> AudioFacts | None:
        """The audio of a recording, or of a video."""
        return self.recording or (self.video.audio if self.video else None)

    @cached_property
    def timeline(self) -> Timeline | None:
        """The timeline of a video, None for everything else. Derived once."""
        return timeline_of(self, self.video) if self.video else None

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, with fields changed; what is derived from them is derived anew."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("timeline", None)
        return copied


class Speaker(Given):
    """Whose consent is listened for. ``statement`` None takes palprep's own template. ``spoken_as``
    says how the name sounds, where its letters do not.

    ``whisper_model`` is the folder of a Whisper model that listens; None is the one that
    palprep brings, which knows English alone.

    Raises UsageError for a statement that names no one, and for a language without one.
    """

    full_name: str
    statement: str | None = None
    language: str = "en"
    whisper_model: Path | None = None
    spoken_as: str | None = None
    code: AskedCode | None = None
    """What is listened for after the statement."""

    @model_validator(mode="after")
    def _names_the_speaker(self) -> Self:
        _ = self.required
        return self

    @property
    def required(self) -> Statement:
        required = statement_for(
            self.full_name, self.statement, language=self.language, spoken_as=self.spoken_as
        )
        return required._replace(code=self.code)
