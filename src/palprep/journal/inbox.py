"""Callbacks into a journal: during a run on loopback, or by ``palprep listen``."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from pathlib import Path

from palprep.callbacks.server import CallbackServer, Delivery, Sink
from palprep.journal.store import JOURNAL_NAME, Journal
from palprep.pipelines.steps import made_of

Told = Callable[[Delivery], None]


def secret_path(journal: Journal) -> str:
    """The path behind which this journal's callbacks are taken: 192 random bits, kept."""
    return journal.setting("callback_path", lambda: secrets.token_urlsafe(24))


def into_journal(journal: Journal, *, then: Told | None = None) -> Sink:
    """A sink that records each callback under the creation it belongs to.

    The tag says which one. Without a tag, the resource's id does. A callback that belongs to
    nothing is recorded all the same.
    """

    def take(delivery: Delivery) -> None:
        made = made_of(delivery)
        key = delivery.tag
        creations = journal.creations()
        if key is None and made is not None:
            key = next((c.key for c in creations if c.id == made.id), None)
        person = next((c.person for c in creations if c.key == key), None)
        journal.append(
            "callback",
            person=person,
            key=key,
            body={**(made.to_json() if made else {}), "received": delivery.body},
        )
        if then is not None:
            then(delivery)

    return take


def listen(
    directory: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8701,
    public_url: str | None = None,
    on_ready: Callable[[str], None],
    on_delivery: Told | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Take callbacks into the journal of ``directory`` until ``stop`` is set.

    ``on_ready`` gets the secret address to hand out, once it answers. A run may write the
    same journal meanwhile. Raises JournalError without a journal there, ToolFailed when the
    port is taken.
    """
    forever = stop or threading.Event()
    with Journal(Path(directory) / JOURNAL_NAME) as journal:
        server = CallbackServer(
            into_journal(journal, then=on_delivery),
            nonce=secret_path(journal),
            host=host,
            port=port,
            public_url=public_url,
        )
        with server:
            on_ready(server.url_for())
            forever.wait()
