"""The steps at the service: its verdict on the portrait; asking for a voice and a replica."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from palprep.batch.engines.files import Files
from palprep.batch.fingerprint import stage_key
from palprep.batch.people.person import Person
from palprep.batch.work.connection import Remote
from palprep.batch.work.media_steps import Ready
from palprep.batch.work.memory import reused
from palprep.batch.work.pace import HeldBack, Places
from palprep.batch.work.progress import Reporter, Stopped
from palprep.batch.work.requests import Requests
from palprep.errors import (
    AT_SERVICE,
    AuthenticationError,
    JournalError,
    OutputUnwritable,
    PalprepError,
    RateLimited,
    TransportError,
)
from palprep.journal import Creation, CreationState, FaceValidated, Journal, PersonOutcome, refused
from palprep.pipelines import MakeOptions, Request, make_replica, make_voice, validate_face
from palprep.publish import Publisher
from palprep.values import Role


class CanTell(Protocol):
    """Whether the end of a training can become known here."""

    def __call__(self, creation: Creation, *, calls_elsewhere: bool) -> bool: ...


_HOPELESS = (AuthenticationError, HeldBack, RateLimited, Stopped, TransportError)
"""Errors after which a second request would fare like the first."""


@dataclass(frozen=True)
class Requested:
    """How it ended at the service for one person. ``made`` is what was created, now or before;
    ``watched`` the keys of what can be told to have ended.
    """

    outcome: PersonOutcome
    made: tuple[Creation, ...] = ()
    watched: tuple[str, ...] = ()


@dataclass(frozen=True)
class ServiceSteps:
    """Asks for one person's voice and replica, and waits for neither."""

    journal: Journal
    remote: Remote
    publisher: Publisher
    files: Files
    places: Places
    can_tell: CanTell

    def carry_out(self, person: Person, ready: Ready, reporter: Reporter) -> Requested:
        """Ask for the verdict, then for the voice and the replica.

        A portrait that the service refuses stops the replica that would be trained from it, and
        nothing else. A voice that is refused does not stop the replica.
        """
        requests = ready.requests
        refusal = self._refusal(ready, reporter)
        notes, not_made = _consequences(requests, refusal)
        if not_made:
            requests = requests.model_copy(update={"replica": None})
        if requests.nothing:
            return Requested(refused(*not_made, at_service=True))
        if not_made:
            not_made = (f"Only the voice is made. {not_made[0]}", *not_made[1:])
        made: list[Creation] = []
        errors: list[PalprepError] = []
        for make in (self._voice, self._replica):
            try:
                creation = make(requests, ready, reporter)
            except (JournalError, OutputUnwritable):
                raise
            except PalprepError as error:
                errors.append(error)
                if isinstance(error, _HOPELESS):
                    break
            else:
                made += [creation] if creation is not None else []
        outcome = _after(errors) or self._outcome(person, made, refused_at_service=bool(not_made))
        elsewhere = person.settings.callback_url is not None
        return Requested(
            outcome.model_copy(update={"notes": notes, "not_made": not_made}),
            tuple(made),
            tuple(c.key for c in made if self.can_tell(c, calls_elsewhere=elsewhere)),
        )

    def _outcome(
        self, person: Person, made: Sequence[Creation], *, refused_at_service: bool
    ) -> PersonOutcome:
        """The outcome when everything was asked for, as the creations stand."""
        waiting = tuple(
            self._open_end(person, each) for each in made if each.state is CreationState.STARTED
        )
        return PersonOutcome(
            status="waiting", reasons=waiting, complete=True, at_service=refused_at_service
        )

    def _refusal(self, ready: Ready, reporter: Reporter) -> str | None:
        """Why the service refuses the portrait; None when it does not, or was not asked.

        Requested before anything is published: a refused portrait is never put anywhere.
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
        with self.files.at_hand(portrait):
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
        return self._with_a_place(
            reporter,
            request,
            lambda options: make_voice(
                self.remote.client,
                self.publisher,
                ready.prepared[Role.VOICE_AUDIO],
                request,
                journal=self.journal,
                callbacks=self.remote.callbacks,
                options=options,
            ),
        )

    def _replica(self, requests: Requests, ready: Ready, reporter: Reporter) -> Creation | None:
        request = requests.replica
        if request is None:
            return None
        used = {role: ready.prepared[role] for role in requests.replica_roles}
        return self._with_a_place(
            reporter,
            request,
            lambda options: make_replica(
                self.remote.client,
                self.publisher,
                request,
                video=used.get(Role.TRAINING_VIDEO),
                consent=used.get(Role.CONSENT_VIDEO),
                image=used.get(Role.FACE_IMAGE),
                without_consent=ready.without_consent,
                compared=ready.compared,
                journal=self.journal,
                callbacks=self.remote.callbacks,
                options=options,
            ),
        )

    def _with_a_place(
        self, reporter: Reporter, request: Request, make: Callable[[MakeOptions], Creation]
    ) -> Creation:
        """What is made, now in a place of its own or before.

        Where no one here will hear of the end of the training, it holds no place.
        """
        taken = False

        def take() -> None:
            nonlocal taken
            self.places.take(reporter.go_on)
            taken = True

        options = MakeOptions(
            person=reporter.person,
            target=self.remote.target,
            ask_for_replicas=self.remote.connection.ask_for_replicas,
            tell=reporter.begin,
            checkpoint=reporter.go_on,
            before_create=take,
            wait=False,
        )
        try:
            creation = make(options)
        except BaseException as error:
            if isinstance(error, RateLimited):
                self.places.close(f"The service takes no more for now. {error.message}")
            if taken:
                self.places.give_back()
            raise
        if taken:
            self.places.hold(creation.key)
        if not self.can_tell(creation, calls_elsewhere=request.callback_url is not None):
            self.places.free(creation.key)
        return creation

    def _open_end(self, person: Person, creation: Creation) -> str:
        training = f"The {creation.what} {creation.id} is in training"
        if creation.what == "voice":
            return f"{training}: `palprep watch` waits for it"
        own = person.settings.callback_url
        if own is not None:
            return f"{training}: the service will tell {own}"
        if self.remote.callbacks is None:
            return (
                f"{training}: the service shows no way to ask for it and cannot call this machine; "
                "next time give --callback-url with `palprep listen` behind it"
            )
        return f"{training}: its callback has not come yet; `palprep watch` waits for it"


def _consequences(
    requests: Requests, refusal: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a refused portrait means: notes, and why no replica is made."""
    if refusal is None:
        return (), ()
    if requests.replica is not None and Role.FACE_IMAGE in requests.replica_roles:
        return (), (refusal,)
    return (f"Left out: {refusal}",), ()


def _after(errors: Sequence[PalprepError]) -> PersonOutcome | None:
    """The outcome after errors that kept something from being asked for; None without any."""
    if not errors:
        return None
    reasons = tuple(dict.fromkeys(error.message for error in errors))
    if all(isinstance(error, HeldBack | Stopped) for error in errors):
        return PersonOutcome(status="waiting", reasons=reasons)
    at_service = any(isinstance(error, AT_SERVICE) for error in errors)
    return PersonOutcome(status="failed", reasons=reasons, at_service=at_service)
