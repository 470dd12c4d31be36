"""The two clients, and what they may be given. Only their senders differ."""

from __future__ import annotations

import functools
import inspect
import logging
import os
import random as randomness
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Generic, Self, TypeAlias, TypeVar, Unpack, cast, get_args, get_type_hints

import anyio
import httpx

from palprep import api
from palprep.api import records
from palprep.client import resources, settings
from palprep.client.exchange import exchange
from palprep.client.resources import S, Sending, routine
from palprep.client.senders import AsyncSender, HookOptions, RawResponse, SyncSender, hooks_of
from palprep.errors import StorageError, UsageError
from palprep.storage import http_client
from palprep.values import require_type

R = TypeVar("R", bound=api.Reply)
F = TypeVar("F", bound=Callable[..., Any])

log = logging.getLogger("palprep.client")

DEFAULT_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
"""Seconds for each read and write; connecting gives up earlier."""


class CallOptions(HookOptions, total=False):
    """Options of both clients and of their copies. :class:`Client` explains them."""

    timeout: settings.Timeout
    deadline: float | None
    retries: int
    headers: Mapping[str, str] | None
    query: Mapping[str, Any] | None
    strict: bool


class CopyOptions(CallOptions, total=False):
    api_key: str


class SharedOptions(CallOptions, total=False):
    proxy: str | httpx.Proxy | None
    trust_env: bool
    clock: Callable[[], float] | None
    random: Callable[[], float] | None
    sleep: Callable[[float], object] | None


class ClientOptions(SharedOptions, total=False):
    http_client: httpx.Client | None
    transport: httpx.BaseTransport | None


class AsyncClientOptions(SharedOptions, total=False):
    http_client: httpx.AsyncClient | None
    transport: httpx.AsyncBaseTransport | None


def spelt_out(function: F) -> F:
    """A decorator for a function with typed ``**options``: its signature shows each of them, and a
    call with a wrong name or type is a TypeError or a UsageError."""
    signature = inspect.signature(function, eval_str=True)
    *own, options = signature.parameters.values()
    [kind] = get_args(options.annotation)
    hints = get_type_hints(kind)
    single = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=api.UNSET)
        for name, hint in hints.items()
    ]
    signature = signature.replace(parameters=[*own, *single])

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        signature.bind(*args, **kwargs)
        # limits_of() checks the timeout.
        for name in kwargs.keys() & hints.keys() - {"timeout"}:
            require_type(name, kwargs[name], hints[name])
        return function(*args, **kwargs)

    checked.__signature__ = signature  # type: ignore[attr-defined]
    return cast("F", checked)


_DEFAULT_HEADERS = frozenset({"accept", "accept-encoding", "connection", "user-agent"})
"""The headers that httpx sets on every client, whether or not its user did."""


def sender_of(kind: type[S], api_key: str, base_url: str, options: Mapping[str, Any]) -> S:
    """The sender of a new client. Raises as :class:`Client` does."""
    trust_env = options.get("trust_env", True)
    if trust_env:
        log_as_asked(os.environ)
    given = {
        name: options[name] for name in ("transport", "proxy") if options.get(name) is not None
    }
    http: Any = options.get("http_client")
    own = http is None
    address = settings.checked_base_url(base_url)
    if not records.is_https(address, loopback=True):
        log.warning("The API key travels unencrypted to %s; use https.", records.host_of(address))
    if own:
        # A proxy of the environment must not stand between loopback and loopback.
        near = address.startswith("http:") and records.is_loopback(records.host_of(address))
        try:
            http = http_client(kind.library, trust_env=trust_env and not near, **given)
        except StorageError as error:
            raise UsageError(error.message) from None
    elif given:
        raise UsageError("Give transport and proxy to the client that you give as http_client.")
    sleep: Any = anyio.sleep if kind.awaited else time.sleep
    sender = kind(
        http=http,
        own=own,
        base_url=address,
        key=settings.checked_key(api_key),
        timeout=settings.limits_of(DEFAULT_TIMEOUT if own else http.timeout),
        headers={n: v for n, v in http.headers.items() if n not in _DEFAULT_HEADERS},
        query={},
        clock=options.get("clock") or time.monotonic,
        random=options.get("random") or randomness.random,
        sleep=options.get("sleep") or sleep,
    )
    return changed_sender(sender, options)


def changed_sender(sender: S, options: Mapping[str, Any]) -> S:
    """A copy of ``sender`` with these :class:`CopyOptions`."""
    changed: dict[str, Any] = {
        name: options[name] for name in ("deadline", "retries", "strict") if name in options
    }
    if "api_key" in options:
        changed |= {"key": settings.checked_key(options["api_key"]), "limiters": {}}
    if (timeout := options.get("timeout", api.UNSET)) is not api.UNSET:
        changed["timeout"] = settings.limits_of(timeout)
    return replace(
        sender,
        headers=sender.headers | api.sendable({}, options.get("headers") or {}),
        query=sender.query | dict(options.get("query") or {}),
        hooks=hooks_of({**sender.hooks, **options}, awaited=sender.awaited),
        **changed,
    )


def account_in(environ: Mapping[str, str] | None, *, awaited: bool) -> dict[str, Any]:
    """Arguments of a client from the environment: the key and the base URL, and the clock of the
    sandbox if PALPREP_TIME asks for it."""
    require_type("environ", environ, Mapping | None)
    variables = os.environ if environ is None else environ
    account: dict[str, Any] = {}
    for name in ("api_key", "base_url"):
        account[name] = variables.get(f"PALPREP_{name.upper()}", "").strip()
        if not account[name]:
            raise UsageError(
                f"PALPREP_{name.upper()} is not set. Set PALPREP_BASE_URL and PALPREP_API_KEY, or "
                "run `palprep sandbox` and use the URL and the key that it prints."
            )
    return account | settings.time_of(variables, account["base_url"], awaited=awaited)


def log_as_asked(environ: Mapping[str, str], log: logging.Logger = log) -> None:
    """Write the client's log to standard error as PALPREP_LOG asks, unless the program has set up a
    handler. ``info`` writes a line for each attempt, and ``debug`` also the service's request ids.
    Raises :class:`~palprep.errors.UsageError` for another word."""
    level = environ.get("PALPREP_LOG", "").strip().upper()
    if not level:
        return
    if level not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
        raise UsageError("PALPREP_LOG is debug, info, warning or error.")
    log.setLevel(level)
    if not log.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
        log.addHandler(handler)


class _BothClients(Sending[S], Generic[S]):
    """Base of both clients: the resources by name, and plain requests."""

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

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self.base_url!r})"

    @property
    def base_url(self) -> str:
        """The address before every path, without a slash at its end."""
        return self._sender.base_url

    @spelt_out
    def with_options(self, **options: Unpack[CopyOptions]) -> Self:
        """A copy of the client with other options. ``headers`` and ``query`` are added to the
        client's, and all others replace them. Both share connections, and closing one closes the
        other. They share rate limits too, unless the copy has another ``api_key``. Raises as the
        constructor does."""
        copy = object.__new__(type(self))
        _BothClients.__init__(copy, changed_sender(self._sender, options))
        return copy

    @routine
    async def send_raw(self, call: api.Call[R]) -> RawResponse[R]:
        """Send a call from :mod:`palprep.api.calls`. Returns status, headers, body and record."""
        return await exchange(call, self._sender)

    @routine
    @spelt_out
    async def request(
        self, method: api.Verb, path: str, **options: Unpack[api.PlainOptions]
    ) -> RawResponse[api.Unspecified]:
        """Send a request that has no method here yet: ``client.request("GET", "/v2/faces")``.
        ``options`` are ``query``, ``headers``, ``body`` (JSON), ``timeout`` and ``deadline``. POST
        and PATCH are never repeated. Errors are as for every call."""
        return await exchange(api.plain_call(method, path, **options), self._sender)


class Client(_BothClients[SyncSender]):
    """The service for synchronous code. Threads may share a client, processes may not.

    The endpoints are methods of its resources: ``faces``, ``voices``, ``replicas``, ``tools``,
    ``pals``, ``deployments``, ``videos``, ``documents``, ``pronunciation_dictionaries``,
    ``connectors`` and ``conversations``. ``unspecified`` has those that the specification mentions
    without showing them. ``help(client.voices)`` lists the methods of a resource.

    ``timeout`` is the seconds that each connect, read and write may take. ``deadline`` is the
    seconds that a whole call may take, with all its attempts. ``retries`` limits repeated attempts
    (2 unless given). A request is repeated only when that is safe. With ``strict`` a reply that is
    not as specified is an error; without it such a reply is read leniently.

    ``headers`` and ``query`` travel with every request. Those of a single call replace them.

    ``http_client`` is a client of httpx with connections, certificates, proxies, limits, headers
    and authentication of your own. Its timeout holds unless one is given here. You close it
    yourself. Without it ``transport``, ``proxy`` and ``trust_env`` are httpx's; a proxy of the
    environment is not used for http:// on this machine.

    ``on_request`` is called with the :class:`Call` before each attempt, ``on_reply`` with the call
    and the :class:`Answer`, ``on_failure`` with the call and the :class:`NoAnswer`. Each is a
    function, or several in a list. None sees the key.

    With PALPREP_LOG (``info``, ``debug``) in the environment the log is written to standard error,
    unless ``trust_env`` is false. ``clock``, ``sleep`` and ``random`` replace the machine's. Use
    the client as a context manager, or close it.

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
        """A client for PALPREP_BASE_URL with the key in PALPREP_API_KEY, read from ``environ`` or
        the process. With PALPREP_TIME=sandbox it uses the clock of the sandbox at that address, and
        advances it instead of sleeping. Raises :class:`~palprep.errors.UsageError` when the address
        or the key is not set."""
        return cls(**{**account_in(environ, awaited=False), **options})

    def close(self) -> None:
        """Close all connections, except those of a given ``http_client``."""
        if self._sender.own:
            self._sender.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(_BothClients[AsyncSender]):
    """As :class:`Client`, for asyncio and trio code. Hooks and ``sleep`` may be async functions. At
    most a hundred calls are under way at once; others wait for their turn."""

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
        """Close all connections, except those of a given ``http_client``. Raises
        :class:`~palprep.errors.UsageError` in another event loop than its calls used."""
        if self._sender.own:
            try:
                await self._sender.http.aclose()
            except RuntimeError:  # The event loop of the connections is closed, and so are they.
                self._sender.used_here()
                raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


AnyClient: TypeAlias = Client | AsyncClient
