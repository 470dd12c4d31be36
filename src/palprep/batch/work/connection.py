"""The service that a run talks to: a real one, or a sandbox of its own."""

from __future__ import annotations

import contextlib
import os
import random as randomness
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from palprep import sandbox
from palprep.api import UNSET, Rate
from palprep.api.records import host_of, is_loopback
from palprep.batch.work.sandbox_judges import judging_in
from palprep.callbacks import PublicCallbacks
from palprep.client import Client, Limiter, RequestHook, checked_base_url, time_of
from palprep.errors import ApiError, AuthenticationError, UsageError
from palprep.journal import Journal, callback_server, secret_path
from palprep.journal.entries import SandboxStatement
from palprep.pipelines import Callbacks
from palprep.preflight import media_workers
from palprep.workers import Engine

S = TypeVar("S")

EMBEDDED = "embedded sandbox"
"""How results name the sandbox that a run starts for itself."""
SANDBOX_NAME = "sandbox"
"""The folder of a run in which that sandbox keeps its data."""

_EMBEDDED_S = 1_800.0
"""How long an answer of that sandbox may take."""


def _from_env(name: str, *, shown: bool = True) -> Any:
    """A field that a variable of the environment fills where nothing else is given."""
    return field(default_factory=lambda: os.environ.get(name, "").strip() or None, repr=shown)


@dataclass(frozen=True)
class Connection:
    """Which service, and how it and this machine reach each other. What is not given comes from
    PALPREP_BASE_URL, PALPREP_API_KEY, PALPREP_PUBLISH_TO and PALPREP_CALLBACK_URL.

    With ``base_url=None`` the run starts a sandbox of its own, which keeps its state in the
    output folder. ``publish_to`` names a bucket that the service fetches from (``s3://``,
    ``gs://``, ``az://``). ``callback_url`` is the public address behind which ``palprep listen``
    takes callbacks. A sandbox on this machine needs neither. ``clock``, ``sleep`` and ``random``
    replace the real ones. With PALPREP_TIME=sandbox clock and sleep are those of the sandbox at
    ``base_url``.
    """

    base_url: str | None = _from_env("PALPREP_BASE_URL")
    api_key: str | None = _from_env("PALPREP_API_KEY", shown=False)
    publish_to: str | None = _from_env("PALPREP_PUBLISH_TO")
    callback_url: str | None = _from_env("PALPREP_CALLBACK_URL")
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    random: Callable[[], float] = randomness.random

    def __post_init__(self) -> None:
        if self.base_url and self.clock is time.monotonic:
            for name, there in time_of(os.environ, self.base_url).items():
                object.__setattr__(self, name, there)

    @property
    def target(self) -> str:
        """The service's identity in the journal: what was created there stays known there."""
        return checked_base_url(self.base_url) if self.base_url else EMBEDDED

    def require_key(self) -> str:
        """The key of the service. Raises UsageError where none is given."""
        if self.api_key is None:
            raise UsageError(f"No API key for {self.base_url}: set PALPREP_API_KEY")
        return self.api_key


@dataclass(frozen=True)
class Remote:
    """An open connection. ``callbacks`` is None when nothing here can be called back."""

    connection: Connection
    client: Client
    callbacks: Callbacks | None

    def require_answer(self) -> None:
        """Ask for a voice that is nobody's: whether it is found is no matter.

        Raises AuthenticationError for a wrong key, TransportError where nothing answers, ApiError
        where no service does.
        """
        try:
            self.client.voices.get("no-voice")
        except AuthenticationError:
            raise
        except ApiError as error:
            # A proxy that redirects, or a service that is down, answers everything so.
            if not 400 <= error.status < 500:
                raise


@contextlib.contextmanager
def connect(
    connection: Connection,
    journal: Journal,
    into: Path,
    statements: Sequence[SandboxStatement] = (),
    *,
    requests_per_s: int | None = None,
    judge_in: Engine | None = None,
) -> Iterator[Remote]:
    """Open all that is between this run and the service, and close it at the end.

    A sandbox of the run's own takes ``statements`` for consent, palprep's template where there are
    none; it has media opened in ``judge_in``, or in a worker of its own. At most ``requests_per_s``
    requests leave in a second. Raises UsageError when a piece is missing.
    """
    with contextlib.ExitStack() as stack:
        base_url = connection.base_url
        if base_url is None:
            sandbox_of = judging_in(judge_in or stack.enter_context(media_workers(1)), statements)
            elsewhere = connection.publish_to or connection.callback_url
            choices = sandbox.Choices(outbound="anywhere" if elsewhere else "loopback")
            start = partial(sandbox_of, data=into / SANDBOX_NAME, choices=choices)
            own = _on_kept_port(stack, journal, "sandbox_port", lambda port: start(port=port))
            base_url, api_key = own.url, own.user_key
        else:
            api_key = connection.require_key()
        callbacks: Callbacks | None = None
        if connection.callback_url is not None:
            callbacks = PublicCallbacks(connection.callback_url, secret_path(journal))
        elif is_loopback(host_of(base_url)):  # Or no one can reach this machine.
            callbacks = _on_kept_port(
                stack, journal, "callback_port", lambda port: callback_server(journal, port=port)
            )
        on_request: list[RequestHook] = []
        if requests_per_s is not None:
            limiter = Limiter(Rate(requests_per_s, 1.0))
            on_request = [lambda _: connection.sleep(limiter.reserve(connection.clock()))]
        client = Client(
            api_key=api_key,
            base_url=base_url,
            clock=connection.clock,
            sleep=connection.sleep,
            on_request=on_request,
            # A sandbox of the run's own looks at files when a worker is free, which takes minutes
            # behind other people's videos: what is given up then is only asked for again.
            timeout=UNSET if connection.base_url else _EMBEDDED_S,
        )
        yield Remote(connection, stack.enter_context(client), callbacks)


def _on_kept_port(
    stack: contextlib.ExitStack,
    journal: Journal,
    name: str,
    make: Callable[[int], contextlib.AbstractContextManager[S]],
) -> S:
    """A server on the port that this journal's runs have always used: after a kill, addresses that
    were given out then (of published files, of callbacks) work again. When somebody else has taken
    the port, a free one must do."""
    kept = int(journal.setting(name, lambda: str(_free_port())))
    try:
        return stack.enter_context(make(kept))
    except UsageError:
        return stack.enter_context(make(0))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
