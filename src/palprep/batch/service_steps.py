"""The steps at the service: its verdict on the portrait, a voice, a replica."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import get_args

from palprep.batch.connection import Remote
from palprep.batch.context import Ended, Progress, RunContext, stage_key
from palprep.batch.people import Person
from palprep.batch.tasks import Asset
from palprep.client.wait import PASSING
from palprep.journal.creations import Creation, CreationState, What, creation_key
from palprep.journal.run_view import doubt, failure
from palprep.pipelines.steps import (
    Made,
    ReplicaRequest,
    ReplicaUrls,
    ValidatedModel,
    VoiceRequest,
    create_replica,
    create_voice,
    publish_asset,
    validate_face,
    voice_made,
)
from palprep.preflight.prepared import Prepared
from palprep.values import Role

_LOOK_EVERY_S = 0.25
_FIRST_ASK_S = 1.0
_ASKING_SLOWS = 0.25
_RAREST_ASK_S = 15.0
"""Asked after 1 s, then after a quarter of the time waited so far, up to every 15 s."""

_REPLICA_FIELDS = {
    Role.TRAINING_VIDEO: "train_video_url",
    Role.CONSENT_VIDEO: "consent_video_url",
    Role.FACE_IMAGE: "train_image_url",
}

Send = Callable[[str | None], Made]
"""One create request, given the address to call back."""


@dataclass(frozen=True)
class Errand:
    """What one person wants from the service. ``assets`` are fit and prepared."""

    person: Person
    bench: RunContext
    remote: Remote
    assets: Mapping[Role, Asset]

    def ask_about_face(self) -> None:
        """The service's own verdict on the portrait. Ends the work when it does not pass.

        Asked before anything is published: a refused portrait is never put anywhere.
        """
        wanted = self.bench.model_for(self.person)
        model = next((known for known in get_args(ValidatedModel) if known == wanted), None)
        if model is None or Role.FACE_IMAGE not in self.assets:
            return
        self._tell("validate face")
        prepared = self._prepared(Role.FACE_IMAGE)
        key = stage_key("validated", self.remote.target, prepared.sha256, model)
        if self.bench.earlier(self.person, "validated", key, lambda found: bool(found["passed"])):
            return
        verdict = validate_face(self.remote.client, prepared, model=model)
        self.bench.note(self.person, "validated", verdict.to_json(), key)
        if not verdict.passed:
            failed = ", ".join(check.label for check in verdict.checks if not check.passed)
            why = f"The service refuses the portrait: {failed or verdict.message}"
            raise Ended("refused", why, at_service=True)

    def make_voice(self, wish: VoiceRequest) -> Creation:
        """The person's voice, created now or before; not waited for."""

        def publish() -> Send:
            url = publish_asset(self.remote.publisher, self._prepared(Role.VOICE_AUDIO))
            return lambda callback: create_voice(
                self.remote.client, url, wish.model_copy(update={"callback_url": callback})
            )

        return self._create("voice", wish, (Role.VOICE_AUDIO,), publish)

    def make_replica(self, wish: ReplicaRequest, roles: tuple[Role, ...]) -> Creation:
        """The person's replica from the files of ``roles``; not waited for."""

        def publish() -> Send:
            published = {
                _REPLICA_FIELDS[role]: publish_asset(self.remote.publisher, self._prepared(role))
                for role in roles
            }
            urls = ReplicaUrls.model_validate(published)
            return lambda callback: create_replica(
                self.remote.client, urls, wish.model_copy(update={"callback_url": callback})
            )

        return self._create("replica", wish, roles, publish)

    def await_voice(self, voice: Creation) -> Creation:
        """The voice when it has settled, or as it stands when patience ends."""
        self._tell("wait for voice")
        return self._await(voice, self.remote.connection.voice_wait_s, self._ask_for_voice)

    def await_replica(self, replica: Creation) -> Creation:
        """The replica when a callback has told how its training ended, or as it stands."""
        connection = self.remote.connection
        if not connection.ask_for_replicas and not self.hears_of(replica):
            return replica
        self._tell("wait for replica")
        ask = self._ask_for_replica if connection.ask_for_replicas else None
        return self._await(replica, connection.replica_wait_s, ask)

    def hears_of(self, creation: Creation) -> bool:
        """True when the callback of that creation comes to this journal."""
        own = self.person.settings.callback_url
        return own is None and self.remote.callback_for(creation.key) is not None

    def _create(
        self,
        what: What,
        wish: VoiceRequest | ReplicaRequest,
        roles: tuple[Role, ...],
        publish: Callable[[], Send],
    ) -> Creation:
        person, bench = self.person, self.bench
        sources = {role.value: self.assets[role].source_sha256 or "" for role in roles}
        fields = {"target": self.remote.target, **wish.model_dump(mode="json", exclude_none=True)}
        key = creation_key(what, fields, sources)
        bench.note(person, "uses", {"what": what}, key)
        creation = bench.journal.creation(key)
        if creation is None or creation.state is CreationState.ABSENT:
            self._tell(f"publish for {what}")
            # Published before the intent is recorded: a failed upload leaves nothing in doubt.
            send = publish()
            self._tell(f"create {what}")
            callback = person.settings.callback_url or self.remote.callback_for(key)
            creation = bench.creator.create(
                key,
                person=person.slug,
                what=what,
                request={**fields, "sources": sources},
                send=lambda: send(callback),
            )
        if creation.state is CreationState.IN_DOUBT and self.hears_of(creation):
            self._tell(f"wait for a callback that settles the doubt about the {what}")
            creation = self._await(creation, self.remote.connection.doubt_wait_s, None)
        if creation.state is CreationState.IN_DOUBT:
            raise Ended("in_doubt", doubt(creation))
        if creation.status == "error":
            raise Ended("failed", failure(creation), at_service=True)
        return creation

    def _await(
        self, creation: Creation, wait_s: float, ask: Callable[[str], Made] | None
    ) -> Creation:
        # The journal is what is watched: callbacks get there from this process or from
        # `palprep listen`. Asking, where the service can be asked, gets rarer with time.
        clock, bench = self.remote.connection.clock, self.bench
        started = clock()
        ask_at = started + _FIRST_ASK_S
        while not creation.settled and clock() < started + wait_s:
            bench.pause(_LOOK_EVERY_S)
            if ask is not None and creation.id is not None and clock() >= ask_at:
                self._note_answer(creation, ask)
                ask_at = clock() + min(_RAREST_ASK_S, _ASKING_SLOWS * (clock() - started))
            creation = bench.journal.creation(creation.key) or creation
        return creation

    def _note_answer(self, creation: Creation, ask: Callable[[str], Made]) -> None:
        try:
            made = ask(creation.id or "")
        except PASSING:
            return  # Says nothing of the resource; it is asked for again.
        if made.settled:
            self.bench.note(self.person, "status", made.to_json(), creation.key)

    def _ask_for_voice(self, voice_id: str) -> Made:
        return voice_made(self.remote.client.voices.get(voice_id))

    def _ask_for_replica(self, replica_id: str) -> Made:
        found = self.remote.client.unspecified.get_replica(replica_id)
        return Made(id=found.replica_id, status=found.status)

    def _tell(self, step: str) -> None:
        self.bench.go_on()
        self.bench.tell(Progress(person=self.person.slug, step=step))

    def _prepared(self, role: Role) -> Prepared:
        prepared = self.assets[role].prepared
        if prepared is None:
            raise ValueError(f"{role.value} was not prepared")
        return prepared
