"""What a voice and a replica share: the request, and the way to publish, create once, and wait."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from palprep.client import AnyClient, Doing, ask, context_of, until, work
from palprep.errors import OutcomeUnknown, UsageError, WaitTimeout
from palprep.journal import (
    Creation,
    CreationState,
    CreationUsed,
    Journal,
    Polled,
    Snapshot,
    What,
    create_once,
    creation_key,
    doubt_words,
)
from palprep.pipelines.consent import Evidence
from palprep.preflight import Prepared
from palprep.publish import Publisher
from palprep.values import Role, Value

_URL_FIELDS: Mapping[Role, str] = {
    Role.VOICE_AUDIO: "training_audio_url",
    Role.TRAINING_VIDEO: "train_video_url",
    Role.CONSENT_VIDEO: "consent_video_url",
    Role.FACE_IMAGE: "train_image_url",
}
"""The fields of the requests that hold the files' addresses."""


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


class Callbacks(Protocol):
    """How the service reaches this journal: this machine, or another that writes to it."""

    def url_for(self, tag: str) -> str:
        """The address for the callback of the creation ``tag``."""


def _nothing(*_: object) -> None:
    """What is called where no one listens."""


@dataclass(frozen=True)
class MakeOptions:
    """What a program that makes for many people, such as ``palprep run``, says besides.

    ``person`` stands in the journal; by default it is the name of what is created. ``target``
    is the service's identity there; by default it is the client's base URL.

    ``doubt_timeout_s`` is how long to wait for a callback that resolves a doubt.
    ``ask_for_replicas`` allows a GET that the specification does not show.

    ``tell`` hears the name of each step before it is taken. ``checkpoint`` is called before
    each step, and several times a second while waiting; what it raises ends the work there.
    ``before_create`` is called once more before anything is published for a create.

    Unless ``wait``, the creation is returned as soon as it was asked for, in doubt or not.
    """

    person: str | None = None
    target: str | None = None
    doubt_timeout_s: float = 30.0
    ask_for_replicas: bool = False
    tell: Callable[[str], object] = _nothing
    checkpoint: Callable[[], object] = _nothing
    before_create: Callable[[], object] = _nothing
    wait: bool = True


def create(
    client: AnyClient,
    publisher: Publisher,
    request: Request,
    files: Mapping[Role, Prepared],
    evidence: Evidence,
    *,
    journal: Journal | str | Path | None,
    callbacks: Callbacks | None,
    timeout_s: float,
    options: MakeOptions,
) -> Doing[Creation]:
    """Keep the evidence, publish, create at most once, and wait for the end of the training.

    The consent is judged before. Where no callback comes and nothing can be asked, the creation
    is returned as it stands.

    Raises OutcomeUnknown for a creation in doubt, and WaitTimeout when the training has not ended
    in time; ``last`` is then the creation.
    """
    if callbacks is not None and journal is None:
        raise UsageError("Callbacks go into a journal: give the same journal here as to them")
    opened = yield from work(lambda: _opened(journal))
    try:
        creator = _Creator(client, publisher, opened, callbacks, timeout_s, options)
        return (yield from creator.create(request, files, evidence))
    finally:
        if opened is not journal:
            opened.close()


def ask_for_state(client: AnyClient, what: What, resource_id: str) -> Doing[Snapshot]:
    """Ask the service once. The question for a replica is a GET that the specification does not
    show.
    """
    if what == "voice":
        voice = yield from ask(client.voices.get, resource_id)
        return Snapshot.told(resource_id, voice.status, voice.error_message)
    replica = yield from ask(client.unspecified.get_replica, resource_id)
    return Snapshot.told(resource_id, replica.status, replica.error_message)


@dataclass(frozen=True)
class _Creator:
    """Creates at most once, as far as its journal reaches."""

    client: AnyClient
    publisher: Publisher
    journal: Journal
    callbacks: Callbacks | None
    timeout_s: float
    options: MakeOptions

    def create(
        self, request: Request, files: Mapping[Role, Prepared], evidence: Evidence
    ) -> Doing[Creation]:
        what: What = "voice" if isinstance(request, VoiceRequest) else "replica"
        name = request.voice_name if isinstance(request, VoiceRequest) else request.replica_name
        identity = {"target": self.options.target or self.client.base_url, **_identifying(request)}
        sources = {role.value: file.source_sha256 for role, file in files.items()}
        key = creation_key(what, identity, sources)
        person = self.options.person or name
        used = CreationUsed(what=what)
        yield from work(lambda: self.journal.append(used, person=person, key=key))
        yield from work(lambda: evidence.keep(self.journal, person, files.values(), key=key))
        creation = yield from work(lambda: self.journal.creation(key))
        if creation is None or creation.state is CreationState.ABSENT:
            yield from work(self.options.before_create)
            urls = yield from self._published(what, files)
            self._begin(f"create {what}")
            creation = yield from create_once(
                self.journal,
                key,
                person=person,
                what=what,
                request={**identity, "sources": sources},
                send=lambda: self._sent(request, urls, key),
            )
        if not self.options.wait:
            return creation
        told = request.callback_url is None and self.callbacks is not None
        if creation.state is CreationState.IN_DOUBT and told:
            creation = yield from self._resolved(creation)
        if creation.state is CreationState.IN_DOUBT:
            raise OutcomeUnknown(doubt_words(creation), call=dict(creation.request))
        asked = what == "voice" or self.options.ask_for_replicas
        if creation.ended or not (asked or told):
            return creation
        self._begin(f"wait for {what}")
        return (yield from self._ended(creation, asked=asked))

    def _published(self, what: What, files: Mapping[Role, Prepared]) -> Doing[dict[str, str]]:
        # Published before the intent is recorded: a failed upload leaves nothing in doubt.
        self._begin(f"publish for {what}")
        urls: dict[str, str] = {}
        for role, file in files.items():
            url = yield from work(functools.partial(self.publisher.publish, file))
            urls[_URL_FIELDS[role]] = url
        return urls

    def _sent(self, request: Request, urls: Mapping[str, str], key: str) -> Doing[Snapshot]:
        # What was not given is absent, rather than null.
        given = {name: value for name, value in _identifying(request).items() if value != []}
        fields = {**urls, **given}
        if request.callback_url is not None:
            fields["callback_url"] = request.callback_url
        elif self.callbacks is not None:
            fields["callback_url"] = self.callbacks.url_for(key)
        if isinstance(request, VoiceRequest):
            voice = yield from ask(self.client.voices.create, **fields)
            return Snapshot.told(voice.voice_id, voice.status, voice.error_message)
        replica = yield from ask(self.client.replicas.create, **fields)
        return Snapshot.told(replica.replica_id, replica.status, None)

    def _resolved(self, creation: Creation) -> Doing[Creation]:
        """The creation once a callback has resolved the doubt, or as it stands."""
        self._begin(f"wait for a callback that resolves the doubt about the {creation.what}")
        try:
            return (
                yield from until(
                    lambda seen: seen.state is not CreationState.IN_DOUBT,
                    f"The doubt about the {creation.what}",
                    context_of(self.client),
                    self.options.doubt_timeout_s,
                    look=lambda: self._look(creation.key),
                )
            )
        except WaitTimeout:
            return creation

    def _ended(self, creation: Creation, *, asked: bool) -> Doing[Creation]:
        key, person = creation.key, creation.person

        def ask_once() -> Doing[Creation]:
            snapshot = yield from ask_for_state(self.client, creation.what, creation.id or "")
            if snapshot.ended:
                polled = Polled(snapshot=snapshot)
                yield from work(lambda: self.journal.append(polled, person=person, key=key))
            return (yield from self._look(key))

        # The journal is what is looked at: callbacks get there from this process or from
        # `palprep listen`.
        return (
            yield from until(
                lambda seen: seen.ended,
                f"The training of the {creation.what} {creation.id}",
                context_of(self.client),
                self.timeout_s,
                ask=ask_once if asked else None,
                look=lambda: self._look(key),
            )
        )

    def _look(self, key: str) -> Doing[Creation]:
        self.options.checkpoint()
        return (yield from work(lambda: self.journal.known_creation(key)))

    def _begin(self, step: str) -> None:
        self.options.checkpoint()
        self.options.tell(step)


def _identifying(request: Request) -> dict[str, Any]:
    """The fields that tell one request from another, as JSON. Addresses do not."""
    return request.model_dump(mode="json", exclude_none=True, exclude={"callback_url"})


def _opened(journal: Journal | str | Path | None) -> Journal:
    if isinstance(journal, Journal):
        return journal
    if journal is None:
        return Journal()
    return Journal.of(journal, lock=True, create=True)
