"""Voices: cloned from a recording, ready after some minutes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar

from palprep.api.call import Effect, Endpoint
from palprep.api.fields import ShortLink, Tags, VoiceDescription, VoiceName
from palprep.api.records import Voice, Voices
from palprep.api.wire import UNSET, AccountSettings, InPath, InQuery, Request, Unset
from palprep.errors import Problem


@dataclass(frozen=True)
class CreateVoice(Request):
    """Clone a voice from a recording, or from the audio track of a video.

    Returns at once with status ``started``. Needs a user-scoped key, and the right to the
    voice in the recording. Which members are required is not specified.
    """

    _: KW_ONLY
    voice_name: VoiceName | Unset = UNSET
    training_audio_url: ShortLink | Unset = UNSET
    description: VoiceDescription | Unset = UNSET
    callback_url: ShortLink | Unset = UNSET
    tags: Tags | Unset = UNSET


@dataclass(frozen=True)
class GetVoice(Request):
    """Read one voice with its current status."""

    voice_id: Annotated[str, InPath()]


@dataclass(frozen=True)
class UpdateVoice(Request):
    """Change a voice's name, description or tags.

    At least one must be given. ``description=None`` clears the description; the others
    cannot be null.
    """

    voice_id: Annotated[str, InPath()]
    _: KW_ONLY
    voice_name: VoiceName | Unset = UNSET
    description: VoiceDescription | Unset | None = UNSET
    tags: Tags | Unset = UNSET

    json_schema: ClassVar[Mapping[str, Any]] = {"minProperties": 1}

    def problems(self, settings: AccountSettings) -> Iterable[Problem]:
        """At least one member."""
        del settings
        if self.voice_name is UNSET and self.description is UNSET and self.tags is UNSET:
            yield Problem("", "empty", "must hold voice_name, description or tags")


@dataclass(frozen=True)
class ListVoices(Request):
    """List the account's voices, those with one tag when ``tag`` is given.

    The specification mentions the list with its ``tag`` and does not show it.
    """

    _: KW_ONLY
    tag: Annotated[str | Unset, InQuery()] = UNSET


create_voice = Endpoint("voices.create", "POST", "/v2/voices", CreateVoice, Voice, Effect.CREATES)
get_voice = Endpoint("voices.get", "GET", "/v2/voices/{voice_id}", GetVoice, Voice, Effect.READS)
update_voice = Endpoint(
    "voices.update", "PATCH", "/v2/voices/{voice_id}", UpdateVoice, Voice, Effect.SETS
)
list_voices = Endpoint(
    "voices.list", "GET", "/v2/voices", ListVoices, Voices, Effect.READS, unspecified=True
)
