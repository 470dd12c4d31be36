"""The requests for a voice and a replica, without the addresses of media."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palprep.values import Value


class VoiceRequest(Value):
    """The voice to create; fields as in Create Voice.

    ``callback_url`` is an address of your own that the service tells of the end of the
    training. palprep then hears of it by asking alone.
    """

    voice_name: str
    description: str | None = None
    tags: tuple[str, ...] = ()
    callback_url: str | None = None


class ReplicaRequest(Value):
    """The replica to create; fields as in Create Replica.

    ``voice_name`` is the slug of a stock replica's voice. A replica from an image needs one.
    ``callback_url`` is an address of your own that the service tells of the end of the
    training. palprep then does not hear of it.
    """

    replica_name: str
    model_name: str | None = None
    voice_name: str | None = None
    callback_url: str | None = None
    auto_fix_training_image: bool | None = None
    properties: Mapping[str, Any] | None = None


Request = VoiceRequest | ReplicaRequest


def identifying(request: Request) -> dict[str, Any]:
    """The fields that tell one request from another, as JSON. Addresses do not."""
    return request.model_dump(mode="json", exclude_none=True, exclude={"callback_url"})


def given(request: Request) -> dict[str, Any]:
    """The fields to send, without addresses. What was not given is absent, rather than null."""
    return {name: value for name, value in identifying(request).items() if value != []}
