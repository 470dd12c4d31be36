"""From prepared files to a validated face, a voice and a replica.

Each step is a plain function that returns a frozen value. Waiting polls where the
specification has a GET (voices) and waits for the callback where it has none (replicas).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import model_validator

from palprep.api.events import ReplicaTraining, VoiceStatusChanged
from palprep.api.records import Voice
from palprep.callbacks.server import CallbackServer, Delivery, Inbox
from palprep.client import Client
from palprep.errors import UsageError, WaitTimeout
from palprep.preflight.prepared import Prepared
from palprep.preflight.same_person import same_person
from palprep.publish.publishers import Publisher
from palprep.rules.consent import lacks_consent
from palprep.values import Outcome, Value

Clock = Callable[[], float]
"""Seconds on a clock that only moves forward."""

ResourceStatus = Literal["started", "completed", "error"]

ValidatedModel = Literal["core-4", "core-4.5"]
"""The models that face image validation takes (specification, Validate Face Image)."""


class FaceCheck(Value):
    """One check of the service's own verdict."""

    id: str
    label: str
    passed: bool


class FaceVerdict(Value):
    """What the service says about a portrait."""

    passed: bool
    message: str
    model: str
    checks: tuple[FaceCheck, ...]


class Made(Value):
    """A voice or a replica, and its last known state."""

    id: str
    status: ResourceStatus
    error_message: str | None = None

    @property
    def settled(self) -> bool:
        """True when the state will not change any more."""
        return self.status != "started"


class VoiceRequest(Value):
    """The voice to create; fields as in Create Voice."""

    voice_name: str
    description: str | None = None
    tags: tuple[str, ...] = ()
    callback_url: str | None = None


class ReplicaRequest(Value):
    """The replica to create; fields as in Create Replica.

    ``voice_name`` is the slug of an existing stock replica's voice, needed for a replica
    from an image.
    """

    replica_name: str
    model_name: str | None = None
    voice_name: str | None = None
    callback_url: str | None = None
    auto_fix_training_image: bool | None = None


class ReplicaUrls(Value):
    """Where the service fetches the media: a video, with or without a consent video of its
    own, or an image."""

    train_video_url: str | None = None
    consent_video_url: str | None = None
    train_image_url: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.train_video_url is None) == (self.train_image_url is None):
            raise ValueError("a replica is trained from a video or from an image")
        if self.consent_video_url is not None and self.train_video_url is None:
            raise ValueError("a consent video goes with a training video")
        return self


def validate_face(
    client: Client, prepared: Prepared, *, model: ValidatedModel = "core-4"
) -> FaceVerdict:
    """Ask the service about a portrait; nothing is created."""
    result = client.faces.validate_image(Path(prepared.path), model=model)
    return FaceVerdict(
        passed=result.passed,
        message=result.message,
        model=model,
        checks=tuple(
            FaceCheck(id=check.id, label=check.label, passed=check.passed)
            for check in result.checks
        ),
    )


def publish_asset(publisher: Publisher, prepared: Prepared) -> str:
    """The URL of a prepared file, under its own name."""
    path = Path(prepared.path)
    return publisher.publish(path, path.name)


def create_voice(client: Client, url: str, wish: VoiceRequest) -> Made:
    """One Create Voice request."""
    voice = client.voices.create(training_audio_url=url, **_given(wish))
    return voice_made(voice)


def create_replica(client: Client, urls: ReplicaUrls, wish: ReplicaRequest) -> Made:
    """One Create Replica request."""
    replica = client.replicas.create(**_given(urls), **_given(wish))
    return Made(id=replica.replica_id, status=replica.status)


def wait_for_callback(
    inbox: Inbox, tag: str, *, timeout_s: float, clock: Clock = time.monotonic
) -> Made:
    """Wait until a callback says that the resource created under ``tag`` has settled.

    Raises WaitTimeout when none comes within ``timeout_s`` seconds.
    """
    give_up = clock() + timeout_s
    seen = 0
    while True:
        deliveries = inbox.wait(tag, beyond=seen, timeout_s=max(0.0, give_up - clock()))
        for delivery in deliveries[seen:]:
            made = made_of(delivery)
            if made is not None and made.settled:
                return made
        seen = len(deliveries)
        if clock() >= give_up:
            raise WaitTimeout(f"No callback came within {timeout_s:g} s", last=None)


def make_voice(
    client: Client,
    publisher: Publisher,
    prepared: Prepared,
    wish: VoiceRequest,
    *,
    timeout_s: float = 900.0,
) -> Made:
    """Publish, create, and wait by asking. ``prepared`` is a recording, or a video's sound.

    Raises WaitTimeout when the voice has not settled after ``timeout_s`` seconds. Not
    guarded against being repeated: that is what the journal of :mod:`palprep.batch` is for.
    """
    voice = create_voice(client, publish_asset(publisher, prepared), wish)
    return voice_made(client.voices.wait(voice.id, timeout=timeout_s))


def make_replica(
    client: Client,
    publisher: Publisher,
    wish: ReplicaRequest,
    *,
    video: Prepared | None = None,
    consent: Prepared | None = None,
    image: Prepared | None = None,
    without_consent: bool = False,
    callbacks: tuple[CallbackServer, Inbox] | None = None,
    timeout_s: float = 14_400.0,
    clock: Clock = time.monotonic,
) -> Made:
    """Publish, create and, with ``callbacks``, wait for the training to end.

    From a ``video``, whose opening holds the consent statement unless ``consent`` is a video
    of its own; or from an ``image``, with the stock voice that ``wish.voice_name`` names.
    Nothing is uploaded, and UsageError raised, when neither video was heard to hold the
    statement (prepare it with its ``speaker``) or they show two people, unless
    ``without_consent`` says so.
    The server of ``callbacks`` must be reachable for the service and have the inbox as sink.
    Without callbacks the state is what the creation said: the specification has no way to
    ask for it.
    """
    if image is not None and wish.voice_name is None:
        raise UsageError("A replica from an image needs voice_name, the slug of a stock voice")
    source = video or image
    if source is None or (video and image) or (consent and image):
        raise UsageError("Give a video, with or without a consent video, or an image")
    if video is not None and not without_consent:
        _require_consent(video, consent)
    urls = ReplicaUrls(
        train_video_url=publish_asset(publisher, video) if video else None,
        consent_video_url=publish_asset(publisher, consent) if consent else None,
        train_image_url=publish_asset(publisher, image) if image else None,
    )
    if callbacks is None:
        return create_replica(client, urls, wish)
    server, inbox = callbacks
    tag = f"replica-{source.sha256[:16]}"
    create_replica(client, urls, wish.model_copy(update={"callback_url": server.url_for(tag)}))
    return wait_for_callback(inbox, tag, timeout_s=timeout_s, clock=clock)


def _require_consent(video: Prepared, consent: Prepared | None) -> None:
    lacking = lacks_consent(video.report, consent.report if consent else None)
    if lacking is None and consent is not None:
        [alike] = same_person((video.path, consent.path))
        if alike.outcome is Outcome.FAIL:
            lacking = f"the consent video shows somebody else, cosine similarity {alike.measured}"
    if lacking is not None:
        raise UsageError(
            f"No replica is made of {Path(video.path).name}: {lacking}. Give consent to it, or "
            "say without_consent=True"
        )


def voice_made(voice: Voice) -> Made:
    """The record of a voice as far as its making goes."""
    return Made(id=voice.voice_id, status=voice.status, error_message=voice.error_message)


def made_of(delivery: Delivery) -> Made | None:
    """What a callback says about a voice or a replica; None when it says nothing of either."""
    event = delivery.event
    if not isinstance(event, VoiceStatusChanged | ReplicaTraining):
        return None
    return Made(id=event.resource_id, status=event.status, error_message=event.error_message)


def _given(wish: Value) -> dict[str, Any]:
    # Fields left out are absent from the request, rather than null.
    fields = wish.model_dump(exclude_none=True)
    return {name: list(v) if isinstance(v, tuple) else v for name, v in fields.items() if v != ()}
