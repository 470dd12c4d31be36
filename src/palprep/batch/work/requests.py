"""What may be created of a person's files: for which model, and judged by which profile."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple, get_args

from palprep.batch.people.person import Person
from palprep.pipelines import ReplicaRequest, Request, ValidatedModel, VoiceRequest
from palprep.rules import BUILT_IN, load_profile
from palprep.values import Role, Value


class KnownProfile(NamedTuple):
    """A profile: the model that it is for, and all of its limits, as JSON."""

    model: str
    limits: str


def profile_for(person: Person, profile: str) -> str:
    """The profile that the person's files are held against; ``profile`` is the run's."""
    model = person.settings.model
    return model if model in BUILT_IN and model is not None else profile


def known_profiles(own: str) -> dict[str, KnownProfile]:
    """The profile of a run, ``own``, and those of the models that people may name.

    Raises ProfileError for an unknown profile.
    """
    found = {name: load_profile(name) for name in dict.fromkeys((own, *BUILT_IN))}
    return {name: KnownProfile(each.model, each.model_dump_json()) for name, each in found.items()}


_NO_STOCK_VOICE = (
    "No replica is made of the portrait: person.toml, or the manifest, names no stock_voice for it."
)


class Requests(Value):
    """What to create for a person; None where the files do not allow it."""

    voice: VoiceRequest | None
    replica: ReplicaRequest | None
    replica_roles: tuple[Role, ...] = ()
    """The files that the replica is trained from."""
    validated_model: ValidatedModel | None = None
    """The model to ask the service's verdict on the portrait for, where it gives one."""

    @property
    def nothing(self) -> bool:
        """Neither a voice nor a replica can be made."""
        return self.voice is None and self.replica is None

    @property
    def each(self) -> list[tuple[Request, tuple[Role, ...]]]:
        """The requests, the voice's first, each with the files that it needs."""
        both = ((self.voice, (Role.VOICE_AUDIO,)), (self.replica, self.replica_roles))
        return [(request, roles) for request, roles in both if request is not None]

    @property
    def words(self) -> str:
        """What would be created, for a dry run."""
        parts = []
        if self.voice is not None:
            parts.append(f"a voice named {self.voice.voice_name}")
        if self.replica is not None:
            files = " and ".join(role.value for role in self.replica_roles)
            parts.append(f"a replica named {self.replica.replica_name} from the {files}")
        return " and ".join(parts)


def requests_for(person: Person, roles: Container[Role], model: str) -> Requests:
    """A voice from a recording or a video's sound; a replica from a video, or from a portrait
    and a stock voice. ``roles`` are those of the person's files; ``model`` is made for, unless the
    person names another.
    """
    settings = person.settings
    model = settings.model or model
    voice = replica = None
    used: tuple[Role, ...] = ()
    if Role.VOICE_AUDIO in roles:
        voice = VoiceRequest(
            voice_name=settings.voice_name or person.name,
            description=settings.description,
            tags=settings.tags,
            callback_url=settings.callback_url,
        )
    stock_voice = settings.stock_voice
    if Role.TRAINING_VIDEO in roles:
        used = (Role.TRAINING_VIDEO, Role.CONSENT_VIDEO)
    elif Role.FACE_IMAGE in roles:
        stock_voice = stock_voice or settings.voice_name
        used = (Role.FACE_IMAGE,) if stock_voice else ()
    from_image = Role.FACE_IMAGE in used
    if used:
        replica = ReplicaRequest(
            replica_name=person.name,
            model_name=model,
            voice_name=stock_voice,
            callback_url=settings.callback_url,
            auto_fix_training_image=settings.auto_fix_training_image if from_image else None,
            properties=settings.properties,
        )
    return Requests(
        voice=voice,
        replica=replica,
        replica_roles=tuple(role for role in used if role in roles),
        validated_model=next((known for known in get_args(ValidatedModel) if known == model), None),
    )


def not_asked_for(requests: Requests, roles: Container[Role]) -> tuple[str, ...]:
    """What one setting more would ask for: a replica from a portrait needs a stock voice."""
    if requests.replica is not None or requests.nothing or Role.FACE_IMAGE not in roles:
        return ()
    return (_NO_STOCK_VOICE,)
