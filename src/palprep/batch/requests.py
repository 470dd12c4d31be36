"""What a person's files allow to be created."""

from __future__ import annotations

from collections.abc import Container

from palprep.batch.people import Person
from palprep.pipelines.steps import ReplicaRequest, VoiceRequest
from palprep.values import Role, Value


class Wishes(Value):
    """What is to be created for a person; None where the files do not allow it.

    ``replica_roles`` are the files that the replica is trained from.
    """

    voice: VoiceRequest | None
    replica: ReplicaRequest | None
    replica_roles: tuple[Role, ...] = ()


def wishes(person: Person, roles: Container[Role], model: str) -> Wishes:
    """A voice from a recording or a video's sound; a replica from a video, or from a portrait
    and a stock voice."""
    settings = person.settings
    voice = replica = None
    used: tuple[Role, ...] = ()
    if Role.VOICE_AUDIO in roles:
        voice = VoiceRequest(
            voice_name=settings.voice_name or person.name,
            description=settings.description,
            tags=settings.tags,
        )
    stock_voice = settings.stock_voice
    if Role.TRAINING_VIDEO in roles:
        used = (Role.TRAINING_VIDEO, Role.CONSENT_VIDEO)
    elif Role.FACE_IMAGE in roles:
        stock_voice = stock_voice or settings.voice_name
        used = (Role.FACE_IMAGE,) if stock_voice else ()
    if used:
        replica = ReplicaRequest(replica_name=person.name, model_name=model, voice_name=stock_voice)
    return Wishes(
        voice=voice, replica=replica, replica_roles=tuple(role for role in used if role in roles)
    )
