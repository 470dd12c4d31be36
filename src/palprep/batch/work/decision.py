"""What may be created of a person's files, and what is: for which model, and judged by which
profile.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from palprep.batch.people.person import Person
from palprep.journal.runs import PersonOutcome
from palprep.pipelines import ReplicaRequest, Request, VoiceRequest
from palprep.rules import Check, Report
from palprep.rules.consent import ConsentState
from palprep.values import Role, Value

_NO_STOCK_VOICE = (
    "No replica is made of the portrait: it needs a stock_voice in person.toml or in the manifest."
)


class Wanted(Value):
    """A voice or a replica to create for a person, and the files that it is made of."""

    request: Request
    roles: tuple[Role, ...]

    @property
    def words(self) -> str:
        """What would be created, for a dry run."""
        if isinstance(self.request, VoiceRequest):
            return f"a voice named {self.request.voice_name}"
        files = " and ".join(role.value for role in self.roles)
        return f"a replica named {self.request.replica_name} from the {files}"


Requests = tuple[Wanted, ...]
"""What to create for a person, a voice first."""


def requests_for(person: Person, roles: Container[Role], model: str) -> Requests:
    """A voice from a recording or a video's sound; a replica from a video, or from a portrait
    and a stock voice. ``roles`` are those of the person's files; ``model`` is the run's."""
    settings = person.settings
    found: list[Wanted] = []
    used: tuple[Role, ...] = ()
    if Role.VOICE_AUDIO in roles:
        voice = VoiceRequest(
            voice_name=settings.voice_name or person.name,
            description=settings.description,
            tags=settings.tags,
            callback_url=settings.callback_url,
        )
        found.append(Wanted(request=voice, roles=(Role.VOICE_AUDIO,)))
    auto_fix = None
    if Role.TRAINING_VIDEO in roles:
        used = tuple(each for each in (Role.TRAINING_VIDEO, Role.CONSENT_VIDEO) if each in roles)
    elif Role.FACE_IMAGE in roles and settings.stock_voice:
        auto_fix = settings.auto_fix_training_image
        used = (Role.FACE_IMAGE,)
    if used:
        replica = ReplicaRequest(
            replica_name=person.name,
            model_name=settings.model or model,
            voice_name=settings.stock_voice,
            callback_url=settings.callback_url,
            auto_fix_training_image=auto_fix,
            properties=settings.properties,
        )
        found.append(Wanted(request=replica, roles=used))
    return tuple(found)


def not_asked_for(requests: Requests, roles: Container[Role]) -> tuple[str, ...]:
    """A note that a stock voice is missing, where only that keeps a portrait from a replica."""
    voice_alone = [each.request.what for each in requests] == ["voice"]
    return (_NO_STOCK_VOICE,) if voice_alone and Role.FACE_IMAGE in roles else ()


NOTHING_TO_MAKE = (
    "Nothing can be made of these files: add a recording or a training video; or, for a replica "
    "from the portrait, the name of a stock voice (stock_voice in person.toml or in the manifest)"
)

TO_DO = {
    "fails": "A replica from a video needs consent. Record the statement, at the start of the "
    "training video or as a video of its own; or run with --without-consent.",
    "open": "A person must decide whether consent was given. Until then no replica is made. "
    "Listen, and say with `palprep decide` what you heard. Or record the statement again, word for "
    "word, and run the same command.",
    "refused": "Record the statement again, and run the same command. A later `palprep decide` "
    "takes the place of this decision.",
    "ended": "If the person gives consent again, have the statement recorded again, and run the "
    "same command.",
}
"""What to do about each state of the consent that keeps something from being made."""

_BLOCKERS = {
    "fails": "consent_spoken",
    "open": "consent_in_doubt",
    "refused": "consent_refused",
    "ended": "consent_ended",
}

_ABOUT_THE_PERSON = "appears_under_18"
"""The check that fails for the person: whichever file shows it, no other file makes up for it."""


_TOO_SHORT = frozenset({"audio_duration", "voice_speech_length"})
"""The checks of the sound that fail, too, where a video is too short."""


class Unfit(Value):
    """Why a file cannot be used, one sentence each, and the ids of these findings."""

    reasons: tuple[str, ...]
    report: Report
    ids: tuple[str, ...]


def decide(
    asked: Requests,
    unfit: Mapping[Role, Unfit],
    consent: ConsentState,
    apart: Sequence[Check] = (),
    *,
    voice_from_video: bool,
) -> tuple[Requests, PersonOutcome]:
    """The requests of ``asked`` that can be made, and the outcome so far: why others are not made,
    what is left out, and whether only a doubt about the consent holds something back. A request
    needs files that are not ``unfit``. Unless ``consent`` holds, no replica is made, and no voice
    from the training video. Checks that tell the files ``apart`` keep everything from being made.
    """
    given = {role for each in asked for role in each.roles}
    said_in = unfit.get(Role.CONSENT_VIDEO if Role.CONSENT_VIDEO in given else Role.TRAINING_VIDEO)
    # What cannot be read is told as that, once: nobody knows what is said in it.
    unread = consent.state == "fails" and said_in is not None and said_in.report.error is not None
    against = () if unread or consent.state == "holds" else consent.reasons
    if not asked:
        so_far = PersonOutcome(
            status="redo" if unfit else "needs_answer",
            reasons=reasons_of(unfit, unfit, against, [NOTHING_TO_MAKE]),
            blocked_by=("nothing_to_make", *ids_of(unfit, unfit)),
        )
        return (), _of_different(so_far, apart)
    for_all = {role for role, each in unfit.items() if _ABOUT_THE_PERSON in each.ids}
    fit = tuple(each for each in asked if for_all.union(each.roles).isdisjoint(unfit))
    under_consent = {"voice", "replica"} if voice_from_video else {"replica"}
    refused = under_consent if consent.state != "holds" else ()
    requests = tuple(each for each in fit if each.request.what not in refused)
    used = for_all | given
    follows = {Role.VOICE_AUDIO} if voice_from_video and _follows(unfit) else set[Role]()
    needed = [role for role in unfit if role in used - follows]
    obstacles = [(reasons_of(unfit, needed), ids_of(unfit, needed))]
    held = consent.state == "open" and requests != fit
    if stops := against and any(each.request.what in under_consent for each in asked):
        # Nobody decides about a statement that is recorded again anyway.
        moot = consent.state == "open" and not held and said_in is not None
        told = against if moot else (*against, TO_DO[consent.state])
        # What somebody is to decide leads, where somebody is.
        obstacles.insert(0 if held else 1, (told, (_BLOCKERS[consent.state],)))
    # What speaks against a file may speak against the consent in it, too.
    why = tuple(dict.fromkeys(each for reasons, _ in obstacles for each in reasons))
    spare = [role for role in unfit if role not in used]
    left_out = reasons_of(unfit, spare, () if stops else against)
    so_far = PersonOutcome(
        status="needs_decision" if held else "redo",
        reasons=why,
        notes=tuple(f"Left out: {reason}" for reason in left_out),
        blocked_by=tuple(each for _, ids in obstacles for each in ids),
        held=held,
    )
    if not requests or apart:
        return (), _of_different(so_far, apart)
    not_made = (f"Only the {requests[0].request.what} is made. {why[0]}", *why[1:]) if why else ()
    update = {"status": "waiting", "reasons": (), "not_made": not_made}
    return requests, so_far.model_copy(update=update)


def _of_different(so_far: PersonOutcome, apart: Sequence[Check]) -> PersonOutcome:
    """The outcome if files show or hold different people, about which nobody decides."""
    if not apart:
        return so_far
    before = PersonOutcome(status="redo") if so_far.held else so_far
    why = (*before.reasons, *(check.message for check in apart))
    ids = (*(check.id for check in apart), *before.blocked_by)
    return PersonOutcome(status="redo", reasons=why, notes=so_far.notes, blocked_by=ids)


def _follows(unfit: Mapping[Role, Unfit]) -> bool:
    """Whether everything that speaks against the voice, made of the training video's sound, speaks
    against the video already: with a new video there is nothing else to do."""
    video, voice = unfit.get(Role.TRAINING_VIDEO), unfit.get(Role.VOICE_AUDIO)
    if video is None or voice is None:
        return False
    same = {*video.ids, *(_TOO_SHORT if "video_duration" in video.ids else ())}
    return video.report.error is not None or same.issuperset(voice.ids)


def reasons_of(
    unfit: Mapping[Role, Unfit], roles: Iterable[Role], *besides: Sequence[str]
) -> tuple[str, ...]:
    """Why the files in these roles cannot be used, then what stands ``besides``; each once."""
    against = (reason for role in roles for reason in unfit[role].reasons)
    return tuple(dict.fromkeys((*against, *(reason for each in besides for reason in each))))


def ids_of(unfit: Mapping[Role, Unfit], roles: Iterable[Role]) -> tuple[str, ...]:
    """The ids of the findings in these files, the one about the person first."""
    found = dict.fromkeys(each for role in roles for each in unfit[role].ids)
    return tuple(sorted(found, key=lambda each: each != _ABOUT_THE_PERSON))
