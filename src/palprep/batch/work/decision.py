"""What may be created of a person's files, and what is: for which model, and judged by which
profile.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple, get_args

from palprep.batch.people.person import Person
from palprep.pipelines import ReplicaRequest, Request, ValidatedModel, VoiceRequest
from palprep.rules import BUILT_IN, Report, load_profile
from palprep.values import Outcome, Role, Value


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


NOTHING_TO_MAKE = (
    "Nothing can be made of these files: add a recording or a training video; or, for a replica "
    "from the portrait, the name of a stock voice (stock_voice in person.toml or in the manifest)"
)

WITHOUT_CONSENT = (
    "No video is trained from without consent. Record the statement, at the start of the training "
    "video or as a video of its own; or run with --without-consent."
)

IN_DOUBT = (
    "Whether consent was given is in doubt, and a person must decide: until then no replica is "
    "made. Record the statement again, clearly and word for word, and run the same command; or, "
    "to go on without it, run with --without-consent."
)

_ABOUT_THE_PERSON = "appears_under_18"
"""The check that fails for the person, whichever file shows it: no other file makes up for it."""


class Decision(Value):
    """``requests`` is what to make. ``refused`` says why that is not all, or nothing; ``left_out``
    names the files that the work goes on without, and why. ``held``: a doubt about the consent
    alone keeps something from being made.
    """

    requests: Requests
    refused: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    held: bool = False


class Unfit(Value):
    """Why a file cannot be used, one sentence each."""

    reasons: tuple[str, ...]
    report: Report


def decide(
    asked: Requests,
    unfit: Mapping[Role, Unfit],
    *,
    missing: Sequence[str] = (),
    doubts: Sequence[str] = (),
    voice_from_video: bool,
) -> Decision:
    """What can be made of ``asked``, when these files are ``unfit``.

    ``missing`` says what is missing of the consent, ``doubts`` what is in doubt where nothing is
    missing. Either speaks against the replica, and against a voice that is taken from the training
    video (``voice_from_video``).
    """
    against = (*missing, *doubts)
    if asked.nothing:
        return Decision(requests=asked, refused=_reasons(unfit, unfit, against, [NOTHING_TO_MAKE]))
    for_all = {role for role in unfit if _is_about_the_person(unfit[role])}
    for_voice = for_all | ({Role.VOICE_AUDIO} if asked.voice is not None else set())
    for_replica = for_all | (set(asked.replica_roles) if asked.replica is not None else set())

    def allowed(*, unheard: bool) -> Requests:
        no_voice = bool(for_voice & unfit.keys()) or (unheard and voice_from_video)
        no_replica = bool(for_replica & unfit.keys()) or unheard
        return asked.model_copy(
            update={
                "voice": None if no_voice else asked.voice,
                "replica": None if no_replica else asked.replica,
            }
        )

    requests = allowed(unheard=bool(against))
    stops = bool(against) and (asked.replica is not None or voice_from_video)
    needed = [role for role in unfit if role in for_voice | for_replica]
    to_do = WITHOUT_CONSENT if missing else IN_DOUBT
    refused = _reasons(unfit, needed, (*against, to_do) if stops else ())
    if refused and not requests.nothing:
        made = "voice" if requests.voice is not None else "replica"
        refused = (f"Only the {made} is made. {refused[0]}", *refused[1:])
    spare = [role for role in unfit if role not in needed]
    left_out = _reasons(unfit, spare, () if stops else against)
    return Decision(
        requests=requests,
        refused=refused,
        left_out=tuple(f"Left out: {reason}" for reason in left_out),
        held=requests != allowed(unheard=bool(missing)),
    )


def _reasons(
    unfit: Mapping[Role, Unfit], roles: Iterable[Role], *besides: Sequence[str]
) -> tuple[str, ...]:
    """Why the files in these roles cannot be used, then what stands ``besides``; each once."""
    against = (reason for role in roles for reason in unfit[role].reasons)
    return tuple(dict.fromkeys((*against, *(reason for each in besides for reason in each))))


def _is_about_the_person(unfit: Unfit) -> bool:
    return any(check.id == _ABOUT_THE_PERSON for check in unfit.report.having(Outcome.FAIL))
