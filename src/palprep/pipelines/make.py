"""Validate a face, make a voice, make a replica: for a sync client and for an async one.

Each function is written once. Called with a :class:`~palprep.client.Client` it returns its
value; called with an :class:`~palprep.client.AsyncClient` it is awaited, and what blocks
(uploads, the journal) runs in a thread. ``palprep run`` uses these functions.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from palprep.client.routine import AnyClient, Doing, ask, context_of, routine, work
from palprep.errors import UsageError
from palprep.journal.creations import Creation
from palprep.journal.results import FaceCheck, FaceVerdict, Snapshot, What
from palprep.journal.store import Journal
from palprep.pipelines.consent import different_people, missing_consent
from palprep.pipelines.creation import Callbacks, Job, MakeOptions, Maker
from palprep.pipelines.requests import ReplicaRequest, VoiceRequest, given
from palprep.preflight.prepared import Prepared
from palprep.publish.publishers import Publisher
from palprep.rules.report import Check
from palprep.values import Role

ValidatedModel = Literal["core-4", "core-4.5"]
"""The models that face image validation takes (specification, Validate Face Image)."""

_URL_FIELDS: Mapping[Role, str] = {
    Role.TRAINING_VIDEO: "train_video_url",
    Role.CONSENT_VIDEO: "consent_video_url",
    Role.FACE_IMAGE: "train_image_url",
}

_DEFAULTS = MakeOptions()


@routine
def validate_face(
    client: AnyClient, prepared: Prepared, *, model: ValidatedModel = "core-4"
) -> Doing[FaceVerdict]:
    """Ask the service about a portrait; nothing is created."""
    result = yield from ask(lambda: client.faces.validate_image(prepared.path, model=model))
    return FaceVerdict(
        passed=result.passed is True,
        message=str(result.message or ""),
        model=model,
        # A check without a verdict is no verdict.
        checks=tuple(
            FaceCheck(id=check.id, label=check.label or check.id, passed=check.passed)
            for check in result.checks
            if isinstance(check.passed, bool)
        ),
    )


@routine
def make_voice(
    client: AnyClient,
    publisher: Publisher,
    prepared: Prepared,
    request: VoiceRequest,
    *,
    journal: Journal | str | Path | None = None,
    callbacks: Callbacks | None = None,
    timeout_s: float = 900.0,
    options: MakeOptions = _DEFAULTS,
) -> Doing[Creation]:
    """Publish a recording, create the voice at most once, and wait for the end of its training.

    ``prepared`` is a recording, or a video whose sound is the recording. ``journal`` is an
    open journal, or the folder of one. With it the same request for the same source file is
    never sent twice, whatever dies when; without it, this call alone is remembered.

    The service is asked for the voice's state. With ``callbacks`` it also tells: a server
    from :func:`~palprep.journal.inbox.callback_server` with the same journal.

    The result's ``state`` is ``completed`` or ``error``. Raises OutcomeUnknown when it is not
    known whether the voice was created: it is not sent again until that is resolved. Raises
    WaitTimeout when the training has not ended after ``timeout_s`` seconds, JournalError,
    PublishError, and the client's errors.
    """

    def send(urls: Mapping[Role, str], callback_url: str | None) -> Doing[Snapshot]:
        fields = {"training_audio_url": urls[Role.VOICE_AUDIO], **given(request)}
        fields |= {"callback_url": callback_url} if callback_url else {}
        voice = yield from ask(lambda: client.voices.create(**fields))
        return Snapshot.told(voice.voice_id, voice.status, voice.error_message)

    files = {Role.VOICE_AUDIO: prepared}
    read = functools.partial(_read_voice, client)
    job = Job("voice", request.voice_name, request, files, send, read)
    return (
        yield from _made(
            client,
            job,
            publisher=publisher,
            journal=journal,
            callbacks=callbacks,
            timeout_s=timeout_s,
            options=options,
        )
    )


@routine
def make_replica(
    client: AnyClient,
    publisher: Publisher,
    request: ReplicaRequest,
    *,
    video: Prepared | None = None,
    consent: Prepared | None = None,
    image: Prepared | None = None,
    without_consent: bool = False,
    compared: Sequence[Check] | None = None,
    journal: Journal | str | Path | None = None,
    callbacks: Callbacks | None = None,
    timeout_s: float = 14_400.0,
    options: MakeOptions = _DEFAULTS,
) -> Doing[Creation]:
    """Publish the files, create the replica at most once, and wait for the end of its training.

    From a ``video``, whose opening holds the statement of consent unless ``consent`` is a
    video of its own; or from an ``image``, with the stock voice that ``request.voice_name``
    names. ``compared`` holds the checks of :func:`~palprep.same_person` for video and consent
    where they were made before.

    ``journal``, ``callbacks`` and the errors are as for :func:`make_voice`. Without callbacks
    nothing is waited for, since the specification has no way to ask for a replica: the
    result's ``state`` is then ``started``.

    Nothing is uploaded, and UsageError raised, unless the statement was heard and matches
    (prepare the video that holds it with its ``speaker``), or when the two videos show two
    people. What was heard is kept as a dossier next to the video. ``without_consent`` goes on
    without the statement, whatever is missing of it. That is put on record, in the journal and in
    the dossier. JournalError is raised for a dossier that was changed.
    """
    files = _trained_from(request, video=video, consent=consent, image=image)
    missing = missing_consent(video, consent)
    if missing and not without_consent:
        raise _refused(missing, " Give consent to it, or say without_consent=True.")
    if compared is None and consent is not None and video is not None:
        paths = (video.path, consent.path)
        # Loaded here: a run has its workers compare faces, and loads no network itself.
        from palprep.preflight.same_person import same_person  # noqa: PLC0415

        compared = yield from work(lambda: same_person(paths))
    if different := different_people(compared or ()):
        raise _refused(different)

    def send(urls: Mapping[Role, str], callback_url: str | None) -> Doing[Snapshot]:
        fields = {**{_URL_FIELDS[role]: url for role, url in urls.items()}, **given(request)}
        fields |= {"callback_url": callback_url} if callback_url else {}
        replica = yield from ask(lambda: client.replicas.create(**fields))
        return Snapshot.told(replica.replica_id, replica.status, None)

    asking = functools.partial(_read_replica, client) if options.ask_for_replicas else None
    checks = tuple(compared or ())
    job = Job(
        "replica",
        request.replica_name,
        request,
        files,
        send,
        asking,
        waived=missing,
        compared=checks,
    )
    return (
        yield from _made(
            client,
            job,
            publisher=publisher,
            journal=journal,
            callbacks=callbacks,
            timeout_s=timeout_s,
            options=options,
        )
    )


@routine
def ask_state(client: AnyClient, what: What, resource_id: str) -> Doing[Snapshot]:
    """Ask the service once for the state of a voice or a replica.

    The question for a replica is a GET that the specification does not show.
    """
    read = _read_voice if what == "voice" else _read_replica
    return (yield from read(client, resource_id))


def _read_voice(client: AnyClient, voice_id: str) -> Doing[Snapshot]:
    voice = yield from ask(lambda: client.voices.get(voice_id))
    return Snapshot.told(voice_id, voice.status, voice.error_message)


def _read_replica(client: AnyClient, replica_id: str) -> Doing[Snapshot]:
    found = yield from ask(lambda: client.unspecified.get_replica(replica_id))
    return Snapshot.told(replica_id, found.status, found.error_message)


def _refused(reasons: Sequence[str], advice: str = "") -> UsageError:
    return UsageError(f"No replica is made: {' '.join(reasons)}{advice}")


def _trained_from(request: ReplicaRequest, **given_files: Prepared | None) -> dict[Role, Prepared]:
    video, consent, image = (given_files[name] for name in ("video", "consent", "image"))
    if image is not None and request.voice_name is None:
        raise UsageError("A replica from an image needs voice_name, the slug of a stock voice")
    if (video is None) == (image is None) or (consent and image):
        raise UsageError("Give a video, with or without a consent video, or an image")
    files = {Role.TRAINING_VIDEO: video, Role.CONSENT_VIDEO: consent, Role.FACE_IMAGE: image}
    return {role: file for role, file in files.items() if file is not None}


def _made(
    client: AnyClient,
    job: Job,
    *,
    publisher: Publisher,
    journal: Journal | str | Path | None,
    callbacks: Callbacks | None,
    timeout_s: float,
    options: MakeOptions,
) -> Doing[Creation]:
    if callbacks is not None and journal is None:
        raise UsageError("Callbacks go into a journal: give the same journal here as to them")
    opened = yield from work(lambda: _opened(journal))
    try:
        context, base_url = context_of(client), client.base_url
        maker = Maker(
            context=context,
            base_url=base_url,
            publisher=publisher,
            journal=opened,
            callbacks=callbacks,
            timeout_s=timeout_s,
            options=options,
        )
        return (yield from maker.make(job))
    finally:
        if opened is not journal:
            opened.close()


def _opened(journal: Journal | str | Path | None) -> Journal:
    if isinstance(journal, Journal):
        return journal
    if journal is None:
        return Journal()
    return Journal.of(journal, lock=True, create=True)
