"""The steps that a voice and a replica share: publish, create at most once, wait."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from palprep.client.policy import Context
from palprep.client.routine import Doing, work
from palprep.client.wait import until
from palprep.dossier.files import keep_dossier, waive
from palprep.errors import OutcomeUnknown, WaitTimeout
from palprep.journal.at_most_once import create_once
from palprep.journal.creations import Creation, CreationState, creation_key, doubt_words
from palprep.journal.entries import ConsentWaived, CreationUsed, Polled
from palprep.journal.results import Snapshot, What
from palprep.journal.store import Journal
from palprep.pipelines.requests import Request, identifying
from palprep.preflight.prepared import Prepared
from palprep.publish.publishers import Publisher
from palprep.rules.report import Check
from palprep.values import Role


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


@dataclass(frozen=True)
class Job:
    """One voice or replica to make of ``files``.

    ``send`` makes the one request, given the files' addresses and the address to call back.
    ``read`` asks the service for the state of an id; None where that is not possible.
    ``waived`` says what is missing of the consent, where it was waived. ``compared`` holds checks
    of the faces in ``files``.
    """

    what: What
    name: str
    request: Request
    files: Mapping[Role, Prepared]
    send: Callable[[Mapping[Role, str], str | None], Doing[Snapshot]]
    read: Callable[[str], Doing[Snapshot]] | None
    waived: tuple[str, ...] = ()
    compared: tuple[Check, ...] = ()


@dataclass(frozen=True)
class Maker:
    """Makes each job at most once, as far as its journal reaches."""

    context: Context
    base_url: str
    publisher: Publisher
    journal: Journal
    callbacks: Callbacks | None
    timeout_s: float
    options: MakeOptions

    def make(self, job: Job) -> Doing[Creation]:
        """Publish, create, and wait for the end of the training.

        Where no callback comes and nothing can be asked, the creation is returned as it
        stands. Raises OutcomeUnknown for a creation in doubt. Raises WaitTimeout when the
        training has not ended in time; ``last`` is then the creation.
        """
        identity = {"target": self.options.target or self.base_url, **identifying(job.request)}
        sources = {role.value: file.source_sha256 for role, file in job.files.items()}
        key = creation_key(job.what, identity, sources)
        person = self.options.person or job.name
        used = CreationUsed(what=job.what)
        yield from work(lambda: self.journal.append(used, person=person, key=key))
        yield from work(lambda: self._keep_evidence(job, key, person))
        creation = yield from work(lambda: self.journal.creation(key))
        if creation is None or creation.state is CreationState.ABSENT:
            request = {**identity, "sources": sources}
            yield from work(self.options.before_create)
            creation = yield from self._created(job, key, person, request)
        if not self.options.wait:
            return creation
        told = job.request.callback_url is None and self.callbacks is not None
        if creation.state is CreationState.IN_DOUBT and told:
            creation = yield from self._resolved(creation)
        if creation.state is CreationState.IN_DOUBT:
            raise OutcomeUnknown(doubt_words(creation), call=dict(creation.request))
        if creation.ended or (job.read is None and not told):
            return creation
        self._begin(f"wait for {job.what}")
        return (yield from self._ended(creation, job.read))

    def _keep_evidence(self, job: Job, key: str, person: str) -> None:
        """Put on record what was heard of the consent, and that it was waived."""
        if job.waived:
            self.journal.append(ConsentWaived(why=job.waived), person=person, key=key)
        now = self.journal.now()
        for file in job.files.values():
            path = keep_dossier(file, person=person, written_at=now, compared=job.compared)
            if path is not None and job.waived:
                waive(path, written_at=now, note=" ".join(job.waived))

    def _created(
        self, job: Job, key: str, person: str, request: Mapping[str, object]
    ) -> Doing[Creation]:
        # Published before the intent is recorded: a failed upload leaves nothing in doubt.
        self._begin(f"publish for {job.what}")
        urls: dict[Role, str] = {}
        for role, file in job.files.items():
            urls[role] = yield from work(functools.partial(self.publisher.publish, file))
        self._begin(f"create {job.what}")
        callback = job.request.callback_url
        if callback is None and self.callbacks is not None:
            callback = self.callbacks.url_for(key)
        return (
            yield from create_once(
                self.journal,
                key,
                person=person,
                what=job.what,
                request=request,
                send=lambda: job.send(urls, callback),
            )
        )

    def _resolved(self, creation: Creation) -> Doing[Creation]:
        """The creation once a callback has resolved the doubt, or as it stands."""
        self._begin(f"wait for a callback that resolves the doubt about the {creation.what}")
        try:
            return (
                yield from until(
                    lambda seen: seen.state is not CreationState.IN_DOUBT,
                    f"The doubt about the {creation.what}",
                    self.context,
                    self.options.doubt_timeout_s,
                    look=lambda: self._look(creation.key),
                )
            )
        except WaitTimeout:
            return creation

    def _ended(
        self, creation: Creation, read: Callable[[str], Doing[Snapshot]] | None
    ) -> Doing[Creation]:
        key, person = creation.key, creation.person

        def ask(read: Callable[[str], Doing[Snapshot]]) -> Doing[Creation]:
            snapshot = yield from read(creation.id or "")
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
                self.context,
                self.timeout_s,
                ask=functools.partial(ask, read) if read is not None else None,
                look=lambda: self._look(key),
            )
        )

    def _look(self, key: str) -> Doing[Creation]:
        self.options.checkpoint()
        return (yield from work(lambda: self.journal.known_creation(key)))

    def _begin(self, step: str) -> None:
        self.options.checkpoint()
        self.options.tell(step)
