"""What voices and replicas share: a request, and how files are published, how each is created once,
and how the end of its training is waited for."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from palprep import journal as journals
from palprep.api import UNSET, Given, Unset
from palprep.callbacks import CallbackServer, PublicCallbacks
from palprep.client import AnyClient, answered, until, work
from palprep.errors import OutcomeUnknown, WaitTimeout
from palprep.journal import creations, entries
from palprep.preflight import Prepared
from palprep.publish import Publisher
from palprep.values import Many, Role, require_type

_URL_FIELDS: Mapping[Role, str] = {
    Role.VOICE_AUDIO: "training_audio_url",
    Role.TRAINING_VIDEO: "train_video_url",
    Role.CONSENT_VIDEO: "consent_video_url",
    Role.FACE_IMAGE: "train_image_url",
}
"""The fields of the requests that hold the files' addresses."""


_DOUBT_WAIT_S = 30.0
"""How long to wait for a callback that resolves a doubt."""


class VoiceRequest(Given):
    """The voice to create; fields as in Create Voice. ``callback_url`` is an address of your own
    that the service tells of the end of the training. palprep then learns of it only by asking."""

    what: ClassVar[entries.What] = "voice"

    voice_name: str
    description: str | None = None
    tags: Many[str] = ()
    callback_url: str | None = None


class ReplicaRequest(Given):
    """The replica to create; fields as in Create Replica. ``voice_name`` is the slug of a stock
    replica's voice, which a replica from an image needs. ``callback_url`` is an address of your own
    that the service tells of the end of the training. palprep then does not learn of it."""

    what: ClassVar[entries.What] = "replica"

    replica_name: str
    model_name: str | None = None
    voice_name: str | None = None
    callback_url: str | None = None
    auto_fix_training_image: bool | None = None
    properties: Mapping[str, Any] | None = None


Request = VoiceRequest | ReplicaRequest


Callbacks = CallbackServer | PublicCallbacks
"""How callbacks reach this journal: by a server of this process, or by one that runs elsewhere."""


def _nothing(*_: object) -> None:
    """Stands in for a function that was not given."""


def told_by(
    creation: creations.Creation, callbacks: Callbacks | None
) -> Literal["answer", "callback"] | None:
    """How the end of a training becomes known here: by an answer of the service, which is asked; or
    by a callback alone. None where neither is possible, or the training has ended."""
    if creation.state is creations.CreationState.STARTED and creation.what == "voice":
        return "answer"
    is_open = creation.state in {creations.CreationState.IN_DOUBT, creations.CreationState.STARTED}
    called = callbacks is not None and not creation.told_elsewhere
    return "callback" if called and is_open else None


async def ask_for_state(
    client: AnyClient,
    journal: journals.Journal,
    creation: creations.Creation,
    within: float | Unset = UNSET,
) -> None:
    """Ask the service once for the state of a voice that has an id, and record the end of its
    training if it has ended. ``within`` is the time for the answer, in seconds."""
    voice_id = creation.id or ""
    voice = await answered(client.voices.get(voice_id, deadline=within))
    snapshot = entries.Snapshot.told(voice_id, voice.status, voice.error_message)
    if snapshot.ended:
        polled = entries.Polled(snapshot=snapshot)
        await work(client, lambda: journal.append(polled, person=creation.person, key=creation.key))


@dataclass(frozen=True)
class Creator:
    """Creates one voice or replica at most once, as far as its journal reaches. Consent was judged
    before. ``person`` and ``target``, the service's identity, stand in the journal. ``allow`` is
    called before the upload and after it, which may take long, and raises where nothing may be
    created any more. ``tell`` hears the name of each step before it is taken; what it raises ends
    the work there."""

    client: AnyClient
    publisher: Publisher
    journal: journals.Journal
    callbacks: Callbacks | None
    request: Request
    files: Mapping[Role, Prepared]
    person: str
    target: str
    allow: Callable[[], object] = _nothing
    tell: Callable[[str], object] = _nothing

    @functools.cached_property
    def key(self) -> str:
        return key_of(self.request, self.files, self.target)

    async def create(self) -> creations.Creation:
        """Publish the files and ask for the creation, unless that was done before. Returns the
        creation as it stands then: in doubt, in training, or ended."""
        used = entries.CreationUsed(what=self.request.what)
        await work(self.client, lambda: self.journal.append(used, person=self.person, key=self.key))
        creation = await creations.asked_before(self.client, self.journal, self.key)
        if creation is not None and creation.state is not creations.CreationState.ABSENT:
            return creation
        await work(self.client, self.allow)
        # Published before the intent is recorded: a failed upload leaves nothing in doubt.
        self.tell(f"publish for {self.request.what}")
        urls: dict[str, str] = {}
        for role, file in self.files.items():
            url = await work(self.client, functools.partial(self.publisher.publish, file))
            require_type("The URL of a file", url, str, ": see publish of the publisher")
            urls[_URL_FIELDS[role]] = url
        fields = self._fields(urls)
        asked = _asked(self.request, self.files, self.target)
        if self.request.callback_url is not None:
            asked["told_elsewhere"] = True
        self.tell(f"create {self.request.what}")
        await work(self.client, self.allow)
        return await creations.create_once(
            self.client,
            self.journal,
            self.key,
            person=self.person,
            what=self.request.what,
            request=asked,
            send=lambda: self._sent(fields),
        )

    async def ended(self, creation: creations.Creation, timeout_s: float) -> creations.Creation:
        """Wait, and return the creation once its training has ended; at once where nothing would
        tell of the end. Raises OutcomeUnknown for a creation in doubt, and WaitTimeout, whose
        ``last`` is the creation, when the training has not ended in time."""
        if creation.state is creations.CreationState.IN_DOUBT and told_by(creation, self.callbacks):
            with contextlib.suppress(WaitTimeout):
                creation = await until(
                    self.client,
                    lambda seen: seen.state is not creations.CreationState.IN_DOUBT,
                    f"The doubt about the {self.request.what}",
                    _DOUBT_WAIT_S,
                    look=self._look,
                )
        if creation.state is creations.CreationState.IN_DOUBT:
            told = creations.doubt_words(creation, self.journal.path)
            raise OutcomeUnknown(told, reason=creation.why, call=dict(creation.request))
        if (teller := told_by(creation, self.callbacks)) is None:
            return creation

        async def ask_once(within: float) -> creations.Creation:
            await ask_for_state(self.client, self.journal, creation, within)
            return await self._look()

        # The journal is what is looked at: callbacks get there from this process or from
        # `palprep listen`.
        return await until(
            self.client,
            lambda seen: seen.ended,
            f"The training of the {self.request.what} {creation.id}",
            timeout_s,
            ask=ask_once if teller == "answer" else None,
            look=self._look,
        )

    def _fields(self, urls: Mapping[str, str]) -> dict[str, Any]:
        """The fields of the request, made before the intent is recorded: callbacks may fail."""
        # A field that was not given is absent, and not null.
        given = {name: value for name, value in _identifying(self.request).items() if value != []}
        fields = {**urls, **given}
        if self.request.callback_url is not None:
            fields["callback_url"] = self.request.callback_url
        elif self.callbacks is not None:
            fields["callback_url"] = self.callbacks.url_for(self.key)
        return fields

    async def _sent(self, fields: Mapping[str, Any]) -> entries.Snapshot:
        if self.request.what == "voice":
            voice = await answered(self.client.voices.create(**fields))
            return entries.Snapshot.told(voice.voice_id, voice.status, voice.error_message)
        replica = await answered(self.client.replicas.create(**fields))
        return entries.Snapshot.told(replica.replica_id, replica.status, replica.error_message)

    async def _look(self) -> creations.Creation:
        return await work(self.client, lambda: self.journal.known_creation(self.key))


def _identifying(request: Request) -> dict[str, Any]:
    """The fields that tell one request from another, as JSON. Addresses do not."""
    return request.model_dump(mode="json", exclude_none=True, exclude={"callback_url"})


def _asked(request: Request, files: Mapping[Role, Prepared], target: str) -> dict[str, Any]:
    """What is recorded of a request: all but addresses."""
    sources = {role.value: file.source_sha256 for role, file in files.items()}
    return {"target": target, **_identifying(request), "sources": sources}


def key_of(request: Request, files: Mapping[Role, Prepared], target: str) -> str:
    """The identity in the journal of what is created of these files at the service ``target``."""
    fields = _asked(request, files, target)
    sources = fields.pop("sources")
    return creations.creation_key(request.what, fields, sources)
