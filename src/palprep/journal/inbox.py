"""Callbacks into a journal: during a run on loopback, or by ``palprep listen``."""

from __future__ import annotations

from collections.abc import Callable

from palprep.api import redact
from palprep.api.records import ReplicaTraining, VoiceStatusChanged
from palprep.callbacks import CallbackServer, Delivery, new_nonce
from palprep.journal.entries.bodies import CalledBack, Snapshot
from palprep.journal.store import Journal
from palprep.values import typed

TakeDelivery = Callable[[Delivery], None]


def secret_path(journal: Journal) -> str:
    """The secret path of the address that takes this journal's callbacks: made once, and kept."""
    return journal.setting("callback_path", new_nonce)


@typed("journal")
def into_journal(journal: Journal, *, then: TakeDelivery | None = None) -> TakeDelivery:
    """A sink that records each callback, under the creation that its tag or else its id names, if
    there is one. A callback about a person who was forgotten is dropped. ``then`` is called with
    each delivery once it is recorded. Threads may share the sink."""

    def take(delivery: Delivery) -> None:
        event, snapshot, creation = delivery.event, None, None
        named = [] if delivery.tag is None else [delivery.tag]
        if isinstance(event, VoiceStatusChanged | ReplicaTraining):
            snapshot = Snapshot.told(event.resource_id, event.status, event.error_message)
            named.append(snapshot.id)
        if journal.forgotten("made", named):
            return
        if delivery.tag is not None:
            creation = journal.creation(delivery.tag)
        if creation is None and snapshot is not None:
            creation = journal.creation_of(snapshot.id)
        key, person = (creation.key, creation.person) if creation else (delivery.tag, None)
        body = CalledBack(snapshot=snapshot, received=redact(delivery.body))
        journal.append(body, person=person, key=key)
        if then is not None:
            then(delivery)

    return take


@typed("journal", "host", "port", "public_url")
def callback_server(
    journal: Journal,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    public_url: str | None = None,
    then: TakeDelivery | None = None,
) -> CallbackServer:
    """A server that takes callbacks into ``journal``, as :func:`into_journal`, behind its secret
    path: for ``make_voice`` and ``make_replica``. ``port`` 0 takes a free one, another each time.
    Raises UsageError when the port is taken."""
    return CallbackServer(
        into_journal(journal, then=then),
        nonce=secret_path(journal),
        host=host,
        port=port,
        public_url=public_url,
    )
