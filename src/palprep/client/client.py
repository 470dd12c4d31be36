"""The two clients. They share their resources and decisions; only their senders differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, Self, TypeAlias, TypeVar, Unpack

from palprep.api import Call, PlainOptions, Reply, Unspecified, Verb, plain_call
from palprep.client import resources
from palprep.client.answers import RawResponse
from palprep.client.exchange import exchange
from palprep.client.options import (
    AsyncClientOptions,
    ClientOptions,
    CopyOptions,
    account_in,
    changed_sender,
    sender_of,
    spelt_out,
)
from palprep.client.resources import S, Sending, routine
from palprep.client.senders import AsyncSender, SyncSender

R = TypeVar("R", bound=Reply)


class _BothClients(Sending[S], Generic[S]):
    """What both clients share: the resources, by name."""

    def __init__(self, sender: S) -> None:
        super().__init__(sender)
        self.faces = resources.Faces(sender)
        self.voices = resources.Voices(sender)
        self.replicas = resources.Replicas(sender)
        self.tools = resources.Tools(sender)
        self.pals = resources.Pals(sender)
        self.deployments = resources.Deployments(sender)
        self.videos = resources.Videos(sender)
        self.documents = resources.Documents(sender)
        self.pronunciation_dictionaries = resources.PronunciationDictionaries(sender)
        self.connectors = resources.Connectors(sender)
        self.conversations = resources.Conversations(sender)
        self.unspecified = resources.UnspecifiedOperations(sender)

    @property
    def base_url(self) -> str:
        """The address before every path, without a slash at its end."""
        return self._sender.writer.base_url

    @spelt_out
    def with_options(self, **options: Unpack[CopyOptions]) -> Self:
        """The same client with some options of its own: ``headers`` and ``query`` come besides
        those that it has, all others in their place.

        Both share connections, rate limits and turns, and closing one closes both, unless the copy
        has another ``http_client``. Another ``api_key`` has rate limits of its own. Raises as the
        constructor does.
        """
        copy = object.__new__(type(self))
        _BothClients.__init__(copy, changed_sender(self._sender, options))
        return copy

    @routine
    async def send(self, call: Call[R]) -> R:
        """Send a call that was built from :mod:`palprep.api.calls`."""
        return (await exchange(call, self._sender)).record

    @routine
    async def send_raw(self, call: Call[R]) -> RawResponse[R]:
        """Send a call and return the reply with status, headers and body."""
        return await exchange(call, self._sender)

    @routine
    @spelt_out
    async def request(
        self, method: Verb, path: str, **options: Unpack[PlainOptions]
    ) -> RawResponse[Unspecified]:
        """Ask for what has no method here yet: ``client.request("GET", "/v2/faces")``.

        ``options`` are ``query``, ``headers``, ``body`` (JSON), ``timeout`` and ``deadline``. GET,
        PUT and DELETE are repeated where that is needed, POST and PATCH are not. Returns the
        reply with its ``status``, ``headers`` and ``json()``. Errors are as for every call.
        """
        return await exchange(plain_call(method, path, **options), self._sender)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self.base_url!r}, api_key='***')"


class Client(_BothClients[SyncSender]):
    """The service for synchronous code. Threads may share a client.

    The endpoints are methods of its resources: ``faces``, ``voices``, ``replicas``, ``tools``,
    ``pals``, ``deployments``, ``videos``, ``documents``, ``pronunciation_dictionaries``,
    ``connectors``, ``conversations``; and of ``unspecified``, for what the specification mentions
    without showing it. ``help(client.voices)`` lists those of one.

    ``timeout`` is in seconds, for each connect, read and write. ``deadline`` is in seconds for a
    whole call, with its other attempts. ``retries`` limits repeated attempts (2 unless given),
    which are made only where repeating is safe. ``strict`` makes a reply that is not as specified
    an error, which is otherwise read leniently. ``settings`` are those of the account.

    ``headers`` and ``query`` travel with every request; what a call says itself replaces them.

    ``http_client`` is a client of httpx or of httpx2 with connections, certificates, proxies,
    limits, headers and authentication of your own, and its timeout where none is given here; it
    stays yours to close. Without it ``transport``, ``proxy`` and ``trust_env`` are httpx's.

    ``on_request`` is called with the :class:`Call` before each attempt, ``on_reply`` with it and
    the :class:`Answer`, ``on_failure`` with it and the :class:`NoAnswer`, ``on_retry`` with it
    and the :class:`Retry` before another attempt is waited for. Each is a function, or several in
    a list. None sees the key.

    With PALPREP_LOG (``info``, ``debug``) in the environment the log is shown on standard error,
    unless ``trust_env`` is false. ``clock``, ``sleep``, ``random`` and ``now`` replace the
    machine's. Use the client as a context manager, or close it.

    Raises :class:`~palprep.errors.UsageError` for an unusable key, base URL or hook, and
    :class:`~palprep.errors.InvalidRequest` for unusable headers.
    """

    @spelt_out
    def __init__(self, *, api_key: str, base_url: str, **options: Unpack[ClientOptions]) -> None:
        super().__init__(sender_of(SyncSender, api_key, base_url, options))

    @classmethod
    @spelt_out
    def from_env(
        cls, environ: Mapping[str, str] | None = None, **options: Unpack[ClientOptions]
    ) -> Self:
        """A client for PALPREP_BASE_URL with the key in PALPREP_API_KEY. With PALPREP_TIME=sandbox
        it goes by the clock of the sandbox there, and advances it in place of sleep.

        ``environ`` replaces the process's environment; ``options`` are the constructor's.
        Raises :class:`~palprep.errors.UsageError` when one of the two is not set.
        """
        return cls(**{**account_in(environ, awaited=False), **options})

    def close(self) -> None:
        """Close all connections, unless they are of a client that was given."""
        if self._sender.own:
            self._sender.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(_BothClients[AsyncSender]):
    """The service for asyncio and trio code; everything else is as in :class:`Client`. Hooks may
    be async functions."""

    @spelt_out
    def __init__(
        self, *, api_key: str, base_url: str, **options: Unpack[AsyncClientOptions]
    ) -> None:
        super().__init__(sender_of(AsyncSender, api_key, base_url, options))

    @classmethod
    @spelt_out
    def from_env(
        cls, environ: Mapping[str, str] | None = None, **options: Unpack[AsyncClientOptions]
    ) -> Self:
        """As :meth:`Client.from_env`."""
        return cls(**{**account_in(environ, awaited=True), **options})

    async def close(self) -> None:
        """Close all connections, unless they are of a client that was given."""
        if self._sender.own:
            await self._sender.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


AnyClient: TypeAlias = Client | AsyncClient
