"""The steps at the service: its verdict on the portrait, a voice, a replica."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from palprep.batch.connection import Remote
from palprep.batch.media_steps import Ready
from palprep.batch.people import Person
from palprep.batch.progress import Reporter
from palprep.batch.requests import Requests
from palprep.batch.stages import reused, stage_key
from palprep.errors import OutcomeUnknown, WaitTimeout
from palprep.journal.creations import Creation, CreationState, error_words
from palprep.journal.entries import FaceValidated
from palprep.journal.results import PersonOutcome, failed, refused
from palprep.journal.store import Journal
from palprep.pipelines.creation import MakeOptions
from palprep.pipelines.make import make_replica, make_voice, validate_face
from palprep.values import Role


@dataclass(frozen=True)
class ServiceSteps:
    """Makes one person's voice and replica."""

    journal: Journal
    remote: Remote
    without_consent: bool

    def carry_out(self, person: Person, ready: Ready, reporter: Reporter) -> PersonOutcome:
        """Ask for the verdict, then make the voice, then the replica; and how that ended.

        A portrait that the service refuses stops the replica that would be trained from it, and
        nothing else.
        """
        requests = ready.requests
        refusal = self._refusal(ready, reporter)
        notes, not_made = _consequences(requests, refusal)
        if not_made:
            requests = requests.model_copy(update={"replica": None})
        if requests.nothing:
            return refused(*not_made, at_service=True)
        if not_made:
            not_made = ("Only the voice is made, for these reasons", *not_made)
        made: list[Creation] = []
        for make in (self._voice, self._replica):
            try:
                creation = make(requests, ready, reporter)
            except OutcomeUnknown as error:
                return PersonOutcome(status="in_doubt", reasons=(error.message,))
            if creation is None:
                continue
            if creation.state is CreationState.ERROR:
                return failed(error_words(creation), at_service=True)
            made.append(creation)
        waiting = tuple(self._open_end(person, each) for each in made if not each.ended)
        return PersonOutcome(
            status="waiting" if waiting else "done",
            reasons=waiting,
            notes=notes,
            not_made=not_made,
            complete=True,
            at_service=bool(not_made),
        )

    def _refusal(self, ready: Ready, reporter: Reporter) -> str | None:
        """Why the service refuses the portrait; None when it does not, or was not asked.

        Asked before anything is published: a refused portrait is never put anywhere.
        """
        portrait = ready.prepared.get(Role.FACE_IMAGE)
        model = ready.requests.validated_model
        if portrait is None or model is None:
            return None
        reporter.begin("validate face")
        key = stage_key("validated", self.remote.target, portrait.sha256, model)
        earlier = reused(
            self.journal, FaceValidated, key, reporter.person, lambda found: found.verdict.passed
        )
        if earlier is not None:
            return None
        verdict = validate_face(self.remote.client, portrait, model=model)
        self.journal.append(FaceValidated(verdict=verdict), person=reporter.person, key=key)
        if verdict.passed:
            return None
        broken = ", ".join(check.label for check in verdict.checks if not check.passed)
        return f"The service refuses the portrait: {broken or verdict.message}"

    def _voice(self, requests: Requests, ready: Ready, reporter: Reporter) -> Creation | None:
        request = requests.voice
        if request is None:
            return None
        return _as_it_stands(
            lambda: make_voice(
                self.remote.client,
                self.remote.publisher,
                ready.prepared[Role.VOICE_AUDIO],
                request,
                journal=self.journal,
                callbacks=self.remote.callbacks,
                timeout_s=self.remote.connection.voice_wait_s,
                options=self._options(reporter),
            )
        )

    def _replica(self, requests: Requests, ready: Ready, reporter: Reporter) -> Creation | None:
        request = requests.replica
        if request is None:
            return None
        used = {role: ready.prepared[role] for role in requests.replica_roles}
        return _as_it_stands(
            lambda: make_replica(
                self.remote.client,
                self.remote.publisher,
                request,
                video=used.get(Role.TRAINING_VIDEO),
                consent=used.get(Role.CONSENT_VIDEO),
                image=used.get(Role.FACE_IMAGE),
                without_consent=self.without_consent,
                compared=ready.compared,
                journal=self.journal,
                callbacks=self.remote.callbacks,
                timeout_s=self.remote.connection.replica_wait_s,
                options=self._options(reporter),
            )
        )

    def _options(self, reporter: Reporter) -> MakeOptions:
        connection = self.remote.connection
        return MakeOptions(
            person=reporter.person,
            target=connection.target,
            doubt_timeout_s=connection.doubt_wait_s,
            ask_for_replicas=connection.ask_for_replicas,
            tell=reporter.begin,
            checkpoint=reporter.go_on,
        )

    def _open_end(self, person: Person, creation: Creation) -> str:
        training = f"The {creation.what} {creation.id} is still in training"
        if creation.what == "voice":
            return f"{training}: run the same command again to look at it"
        own = person.settings.callback_url
        if own is not None:
            return f"{training}: the service will tell {own}"
        if self.remote.callbacks is None:
            return (
                f"{training}: the service shows no way to ask for it and cannot call this machine; "
                "next time give --callback-url with `palprep listen` behind it"
            )
        return (
            f"{training}: its callback has not come yet; run the same command again to wait for it"
        )


def _consequences(
    requests: Requests, refusal: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a refused portrait means: notes, and why no replica is made."""
    if refusal is None:
        return (), ()
    if requests.replica is not None and Role.FACE_IMAGE in requests.replica_roles:
        return (), (refusal,)
    return (f"Left out: {refusal}",), ()


def _as_it_stands(make: Callable[[], Creation]) -> Creation:
    """What is made; or, when its training takes too long, its state until the next run."""
    try:
        return make()
    except WaitTimeout as late:
        creation: Creation = late.last  # type: ignore[attr-defined]
        return creation
