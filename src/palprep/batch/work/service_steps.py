"""The steps at the service: its verdict on the portrait; asking for a voice and a replica."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from palprep import errors, pipelines
from palprep.batch.people.files import stage_key
from palprep.batch.people.person import Person
from palprep.batch.work.connection import Remote
from palprep.batch.work.context import Reporter, RunContext
from palprep.batch.work.decision import Wanted
from palprep.batch.work.media_steps import Ready
from palprep.batch.work.pace import Creates, HeldBack, Outage
from palprep.batch.work.waiting import Watch
from palprep.journal import creations, entries, runs
from palprep.publish import Publisher
from palprep.values import Role
from palprep.workers import WorkStopped

_HOPELESS = (
    errors.AuthenticationError,
    HeldBack,
    errors.RateLimited,
    errors.TransportError,
    WorkStopped,
)
"""Errors after which a second request would fare like the first."""


Requested = tuple[runs.PersonOutcome, tuple[creations.Creation, ...]]
"""How it ended at the service for one person, and what was created, now or before."""


@dataclass(frozen=True)
class ServiceSteps:
    """Asks for one person's voice and replica, and waits for neither."""

    run: RunContext
    remote: Remote
    publisher: Publisher
    creates: Creates
    watch: Watch
    outage: Outage

    def carry_out(self, person: Person, ready: Ready, reporter: Reporter) -> Requested:
        """Ask for the verdict, then for the voice and the replica. A portrait that the service
        refuses, or cannot judge, stops only the replica that would be trained from it; a refused
        voice stops nothing else.

        Raises ServiceUnreachable when no service answers. Another call then goes on from there.
        """
        requests, so_far = ready.requests, runs.PersonOutcome(status="waiting")
        left = tuple(each for each in requests if Role.FACE_IMAGE not in each.roles)
        made: list[creations.Creation] = []
        met: list[errors.PalprepError] = []
        try:
            refusal = self._refusal(person, ready, reporter)
        except (errors.BadRequest, errors.PayloadTooLarge) as error:
            met, requests, refusal = [error], left, None
        if refusal:
            why, checks = refusal
            if not left:
                return runs.PersonOutcome(status="redo", reasons=(why,), blocked_by=checks), ()
            told = {"not_made": (f"Only the voice is made. {why}",), "blocked_by": checks}
            if left == requests:
                told = {"notes": (f"Left out: {why}",)}
            requests, so_far = left, so_far.model_copy(update=told)
        for wanted in requests:
            try:
                made.append(self._made(wanted, ready, reporter))
            except (errors.JournalError, errors.OutputUnwritable, errors.ServiceUnreachable):
                raise
            except errors.PalprepError as error:
                met.append(error)
                if isinstance(error, _HOPELESS):
                    break
        outcome = _outcome_after(met) or runs.PersonOutcome(
            status="waiting",
            reasons=tuple(
                self._open_end(person, each)
                for each in made
                if each.state is creations.CreationState.STARTED
            ),
            complete=True,
        )
        # Earlier ones, which the new ones replace.
        kinds, keys = {each.what for each in made}, {each.key for each in made}
        notes = self.run.still_there(
            person.slug, lambda each: each.what in kinds and each.key not in keys
        )
        outcome = outcome.model_copy(update={"notes": notes})
        return so_far.becomes(outcome), tuple(made)

    def _refusal(
        self, person: Person, ready: Ready, reporter: Reporter
    ) -> tuple[str, tuple[str, ...]] | None:
        """Why the service refuses the portrait, and the checks that fail; None when it does not, or
        was not asked. It is asked before anything is published, so that a refused portrait is not.
        """
        portrait = ready.prepared.get(Role.FACE_IMAGE)
        made_for = self.run.profile_of(person).model
        model = next(
            (each for each in get_args(pipelines.ValidatedModel) if each == made_for), None
        )
        if portrait is None or model is None:
            return None
        reporter.begin("validate face")
        journal, slug = self.run.journal, person.slug
        key = stage_key("validated", self.remote.connection.target, portrait.sha256, model)
        if journal.reused(entries.FaceValidated, key, slug, lambda found: found.verdict.passed):
            return None
        with self.run.files.at_hand(portrait):
            verdict = pipelines.validate_face(self.remote.client, portrait, model=model)
        journal.append(entries.FaceValidated(verdict=verdict), person=slug, key=key)
        if verdict.passed:
            return None
        broken = [check for check in verdict.checks if not check.passed]
        why = ", ".join(check.label for check in broken) or verdict.message or "it does not say why"
        ids = tuple(check.id for check in broken)
        return f"The service refuses the portrait: {why}", ids or ("service_refused",)

    def _made(self, wanted: Wanted, ready: Ready, reporter: Reporter) -> creations.Creation:
        files = {role: ready.prepared[role] for role in wanted.roles}
        taken = False

        def allow() -> None:
            nonlocal taken
            # Consent was settled hours ago where many people wait, or the service was away.
            if ready.consent is not None and (now := ready.consent()).state != "holds":
                why = " ".join(now.reasons)
                raise HeldBack(f"Not asked for: {why} Run the same command again")
            if not taken:
                self.creates.take()
                taken = True

        client = self.remote.client
        creator = pipelines.Creator(
            client,
            self.publisher,
            self.run.journal,
            self.remote.callbacks,
            wanted.request,
            files,
            person=reporter.person,
            target=self.remote.connection.target,
            allow=allow,
            tell=reporter.begin,
        )
        try:
            creation = pipelines.create(client, creator)
        except BaseException as error:
            if isinstance(error, errors.RateLimited):
                self.creates.close(f"The service takes no more for now. {error.message}")
            if taken:
                self.creates.give_back()
            raise
        if taken:
            self.creates.settle(in_doubt=creation.state is creations.CreationState.IN_DOUBT)
        return creation

    def _open_end(self, person: Person, creation: creations.Creation) -> str:
        if creation.what == "voice":
            what = "`palprep watch` waits for it"
        elif creation.told_elsewhere:
            what = f"the service will tell {person.settings.callback_url or 'your own address'}"
        elif self.remote.callbacks is None:
            what = (
                "the service shows no way to ask for it and cannot call this machine; next time "
                "give --callback-url with `palprep listen` behind it"
            )
        else:
            what = "no callback has told its end yet; `palprep watch` waits for it"
        return f"The {creation.what} {creation.id} is in training: {what}"


def dry_run(run: RunContext, person: Person, ready: Ready) -> Requested:
    """What would be asked for, as far as earlier runs have not asked for it."""
    target, so_far = run.options.connection.target, ready.so_far
    made: list[creations.Creation] = []
    left: list[str] = []
    for wanted in ready.requests:
        files = {role: ready.prepared[role] for role in wanted.roles}
        key = pipelines.key_of(wanted.request, files, target)
        creation = run.journal.creation(key)
        if creation is None or creation.state is creations.CreationState.ABSENT:
            left.append(wanted.words)
        else:
            run.journal.append(
                entries.CreationUsed(what=wanted.request.what), person=person.slug, key=key
            )
            made.append(creation)
    if not left:
        open_ends = (each for each in made if each.state is creations.CreationState.STARTED)
        reasons = tuple(f"The {each.what} {each.id} is in training" for each in open_ends)
        return runs.PersonOutcome(status="waiting", reasons=reasons, complete=True), tuple(made)
    told = f"Dry run, nothing was sent: {' and '.join(left)} would be created"
    open_: runs.PersonStatus = "redo" if so_far.not_made else "waiting"
    status = "needs_decision" if so_far.held else open_
    return runs.PersonOutcome(status=status, reasons=(told,)), tuple(made)


def _outcome_after(met: Sequence[errors.PalprepError]) -> runs.PersonOutcome | None:
    """The outcome after the errors that kept something from being asked for; None without any."""
    if not met:
        return None
    reasons = tuple(dict.fromkeys(error.message for error in met))
    if all(isinstance(error, HeldBack | WorkStopped | errors.RateLimited) for error in met):
        return runs.PersonOutcome(status="waiting", reasons=reasons)
    codes = tuple(dict.fromkeys(error.code for error in met))
    return runs.PersonOutcome(status="failed", reasons=reasons, blocked_by=codes)
