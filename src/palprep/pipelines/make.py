"""Validate a face, make a voice, make a replica: for a sync client and for an async one.

Each function is written once. Called with a :class:`~palprep.client.Client` it returns its
value; called with an :class:`~palprep.client.AsyncClient` it is awaited, and what blocks
(uploads, the journal) runs in a thread. ``palprep run`` uses these functions.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from palprep import preflight
from palprep.callbacks import PublicCallbacks
from palprep.client import AnyClient, answered, routine, work
from palprep.errors import ConsentUnproven, UnexpectedReply, UsageError
from palprep.journal import Journal, callback_server, secret_path
from palprep.journal.creations import Creation
from palprep.journal.entries import FaceCheck, FaceVerdict
from palprep.pipelines import creation as creations
from palprep.pipelines.consent import ConsentGate, consent_evidence
from palprep.preflight import Prepared
from palprep.publish import Content, Publisher
from palprep.rules import Check
from palprep.rules.consent import ConsentState
from palprep.values import Role, typed

if TYPE_CHECKING:
    from palprep.api.records import ImageMime

ValidatedModel = Literal["core-4", "core-4.5"]
"""The models that face image validation takes (specification, Validate Face Image)."""


@routine
async def validate_face(
    client: AnyClient, prepared: Prepared, *, model: ValidatedModel = "core-4"
) -> FaceVerdict:
    """Ask the service about a portrait; nothing is created. Raises PublishError where the file has
    changed since it was judged, and the client's errors."""
    _require_files({Role.FACE_IMAGE: prepared})
    content = await work(client, lambda: Content.of(prepared))
    mime = cast("ImageMime", content.mime)
    result = await answered(client.faces.validate_image(content.path, model=model, mime_type=mime))
    if not isinstance(result.passed, bool):
        raise UnexpectedReply(
            "The service did not say whether the portrait passed: check the base URL.",
            body=result.to_json(),
            request_id=result.request_id,
        )
    return FaceVerdict(
        passed=result.passed,
        message=str(result.message or ""),
        model=model,
        # What is no check, or has no verdict, is left out.
        checks=tuple(
            FaceCheck(id=str(check.id), label=str(check.label or check.id), passed=check.passed)
            for check in (result.checks if isinstance(result.checks, tuple) else ())
            if isinstance(getattr(check, "passed", None), bool)
        ),
    )


@routine
@typed("journal", "callbacks", "timeout_s")
async def make_voice(
    client: AnyClient,
    publisher: Publisher,
    prepared: Prepared,
    request: creations.VoiceRequest,
    *,
    journal: Journal | str | Path | None = None,
    callbacks: creations.Callbacks | str | bool | None = None,
    timeout_s: float = 900.0,
) -> Creation:
    """Publish a recording, create the voice at most once, and wait for the end of its training.

    ``prepared`` is a recording, or a video whose sound is the recording. ``journal`` is an
    open journal, or the folder of one. With it the same request for the same source file is
    never sent twice, whatever dies when; without it, this call alone is remembered. Threads and
    tasks of one process may make in one folder at once; another process gets JournalBusy then.

    The service is asked for the voice's state. With ``callbacks`` it also tells the end by itself.
    True starts a server during the call, which only a sandbox on this machine reaches, at another
    address each time. An address is the public one of a running ``palprep listen`` with the same
    journal. Or give a server from :func:`~palprep.callback_server`.

    The result's ``state`` is ``completed`` or ``error``. Raises OutcomeUnknown when it is not
    known whether the voice was created: it is not sent again until that is resolved. Raises
    WaitTimeout when the training has not ended after ``timeout_s`` seconds, JournalError,
    PublishError, and the client's errors.
    """
    files = {Role.VOICE_AUDIO: prepared}
    _require(publisher, request, creations.VoiceRequest, files)
    with contextlib.ExitStack() as closing:
        opened, told = await work(client, lambda: _opened(closing, journal, callbacks or None))
        creator = creations.Creator(
            client, publisher, opened, told, request, files, request.voice_name, client.base_url
        )
        creation = await creator.create()
        return await creator.ended(creation, timeout_s)


@routine
@typed("without_consent", "journal", "callbacks", "timeout_s")
async def make_replica(
    client: AnyClient,
    publisher: Publisher,
    request: creations.ReplicaRequest,
    *,
    video: Prepared | None = None,
    consent: Prepared | None = None,
    image: Prepared | None = None,
    without_consent: bool = False,
    journal: Journal | str | Path | None = None,
    callbacks: creations.Callbacks | str | bool | None = None,
    timeout_s: float = 14_400.0,
) -> Creation:
    """Publish the files, create the replica at most once, and wait for the end of its training.

    From a ``video``, whose opening holds the statement of consent unless ``consent`` is a
    video of its own; or from an ``image``, with the stock voice that ``request.voice_name``
    names.

    ``journal``, ``callbacks`` and the errors are as for :func:`make_voice`. Without callbacks
    nothing is waited for, since the specification has no way to ask for a replica: the
    result's ``state`` is then ``started``.

    Nothing is uploaded, and ConsentUnproven raised, unless the statement was heard and matches:
    prepare the video that holds it with its ``speaker``. A doubt raises it, too, until
    :func:`palprep.decide` accepts it in the ``journal``; and so do videos of two people.
    What was heard is kept as a dossier next to the video. ``without_consent`` goes on, whatever is
    missing or in doubt, but not over a refusal. That is put on record, in the journal and in the
    dossier. JournalError is raised for a dossier that was changed.
    """
    given = {Role.TRAINING_VIDEO: video, Role.CONSENT_VIDEO: consent, Role.FACE_IMAGE: image}
    files = {role: file for role, file in given.items() if file is not None}
    _require(publisher, request, creations.ReplicaRequest, files)
    if image is not None and request.voice_name is None:
        raise UsageError("A replica from an image needs voice_name, the slug of a stock voice")
    if (video is None) == (image is None) or (consent and image):
        raise UsageError("Give a video, with or without a consent video, or an image")
    missing = consent_evidence(video, consent).missing
    if missing and not without_consent:
        raise _refused(missing, "fails")
    compared: tuple[Check, ...] = ()
    if consent is not None and video is not None:
        # Compared here: checks that a caller hands over may be of other files.
        paths = (video.path, consent.path)
        compared = await work(client, lambda: preflight.same_person(paths))
    evidence = consent_evidence(video, consent, compared)
    if evidence.against:
        raise _refused(evidence.against)
    with contextlib.ExitStack() as closing:
        opened, told = await work(client, lambda: _opened(closing, journal, callbacks or None))
        who, where = request.replica_name, client.base_url
        gate = ConsentGate(opened, who, tuple(files.values()), evidence, without_consent)

        def allow() -> None:
            _require_consent(gate.now())

        creator = creations.Creator(
            client, publisher, opened, told, request, files, who, where, allow
        )
        _require_consent(await work(client, lambda: gate.settle(compared, creator.key)))
        creation = await creator.create()
        return await creator.ended(creation, timeout_s)


@routine
async def create(_: AnyClient, creator: creations.Creator) -> Creation:
    """See :meth:`~palprep.pipelines.creation.Creator.create`; the client is the creator's."""
    return await creator.create()


ask_state = routine(creations.ask_for_state)


_ADVICE = {
    "fails": " Give consent to it, or say without_consent=True.",
    "open": " Whether consent is given is in doubt. Listen, and record with palprep.decide in the "
    "journal what you decided; record the statement again; or say without_consent=True.",
    "refused": " Record the statement again. A later decision takes the place of this one.",
    "ended": " Record the statement again, if the person gives consent again.",
}


def _require_consent(settled: ConsentState) -> None:
    if settled.state != "holds":
        raise _refused(settled.reasons, settled.state)


def _refused(reasons: Sequence[str], state: str = "") -> ConsentUnproven:
    message = f"No replica is made: {' '.join(reasons)}{_ADVICE.get(state, '')}"
    return ConsentUnproven(message, doubts=tuple(reasons) if state == "open" else ())


def _require(
    publisher: object, request: object, wanted: type, files: Mapping[Role, object]
) -> None:
    if not isinstance(publisher, Publisher):
        raise UsageError("Give a publisher, as palprep.publisher_from_env() does")
    if not isinstance(request, wanted):
        raise UsageError(f"Give a palprep.{wanted.__name__}, not {type(request).__name__}")
    _require_files(files)


def _require_files(files: Mapping[Role, object]) -> None:
    for role, file in files.items():
        if not isinstance(file, Prepared):
            # The repr of another value, such as a report, would fill the screen.
            given = f"What is of type {type(file).__name__}"
            if isinstance(file, str | os.PathLike):
                given = repr(os.fspath(file))
            raise UsageError(
                f"{given} is not prepared: give what palprep.prepare(PATH, into=FOLDER) returns"
            )
        prepared_as = file.report.role
        is_video = prepared_as in {Role.TRAINING_VIDEO, Role.CONSENT_VIDEO}
        # A video can be either of the two, and its sound a recording.
        if prepared_as not in {None, role} and not (is_video and role is not Role.FACE_IMAGE):
            raise UsageError(f"{file.path} was prepared as a {prepared_as}, not as a {role}")


def _opened(
    closing: contextlib.ExitStack,
    journal: Journal | str | Path | None,
    callbacks: creations.Callbacks | str | Literal[True] | None,
) -> tuple[Journal, creations.Callbacks | None]:
    if journal is None and callbacks not in {None, True}:
        raise UsageError("Callbacks go into a journal: give the same journal here as to them")
    if not isinstance(journal, Journal):
        given = Journal() if journal is None else Journal.shared(journal)
        journal = closing.enter_context(given)
    if callbacks is True:
        return journal, closing.enter_context(callback_server(journal))
    if isinstance(callbacks, str):
        return journal, PublicCallbacks(callbacks, secret_path(journal))
    return journal, callbacks
