"""Receives the service's callbacks.

The specification shows no signature on webhooks, so the address itself is the secret: a
random path that only the service was told. Behind it, one more path segment, the tag, says
which request the callback belongs to, even where the payload's shape is not shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import inspect
import logging
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from palprep.api import mended_json, redact
from palprep.api.records import AnyEvent, is_link, parse_event
from palprep.errors import PalprepError, UnexpectedReply, UsageError
from palprep.serving import BodyTooLarge, ServerThread, listening_socket, read_body, url_of
from palprep.values import Value, require_type, typed

_log = logging.getLogger(__name__)

MAX_BODY_BYTES = 64 * 1024
"""A callback is a state snapshot of a few fields; this is generous."""

_BODY_WITHIN_S = 10.0
_SEGMENT = re.compile(r"[\w.~!$&'()*+,;=:@-]+", re.ASCII)
"""RFC 3986, section 3.3, without what is percent-encoded."""


class Delivery(Value):
    """One callback as it arrived. ``event`` is None for JSON of an unknown shape; ``body`` always
    holds all of it."""

    tag: str | None
    event: AnyEvent | None
    body: Any

    @classmethod
    @typed("tag")
    def read(cls, body: bytes | str, tag: str | None = None) -> Delivery:
        """The callback in the ``body`` of a request to your own server. Raises
        :class:`~palprep.errors.UnexpectedReply` for what is not JSON, or nested too deeply."""
        require_type("body", body, bytes | bytearray | str, ": give the body as it came")
        try:
            value = mended_json(body)
        except ValueError:
            raise UnexpectedReply("The callback's body is not JSON.") from None
        with contextlib.suppress(PalprepError):
            return cls(tag=tag, event=parse_event(value), body=value)
        return cls(tag=tag, event=None, body=value)


Sink = Callable[[Delivery], None] | Callable[[Delivery], Awaitable[None]]
"""Takes a delivery, and returns once the delivery is stored. A function is called from several
threads, an async function is awaited on the server's event loop; either may get the same callback
more than once. When it raises, the sender is asked to try again."""


def callback_app(sink: Sink, *, nonce: str, within_s: float = _BODY_WITHIN_S) -> Starlette:
    """An ASGI app for ``POST /{nonce}`` and ``POST /{nonce}/{tag}``, to mount or to run.

    It answers 204 once the sink has returned, 404 to any other path, 400 to a body that is
    not JSON or nested too deeply, 413 to a body above 64 KiB, 408 to one that does not arrive
    within ``within_s`` seconds, 503 when the sink raised a PalprepError, and 500 for any other
    error, which is raised again. ``GET /health``, for monitoring, answers 200 and tells nothing.
    Raises UsageError for a nonce that is not one segment of a path, and a sink that is no function.
    """
    _require_secret(nonce)
    if not callable(sink):
        raise UsageError(f"A sink takes each delivery: give a function, not {type(sink).__name__}")

    async def receive(request: Request) -> Response:
        if not hmac.compare_digest(request.path_params["nonce"].encode(), nonce.encode()):
            raise HTTPException(404)
        try:
            async with asyncio.timeout(within_s):
                raw = await read_body(request, MAX_BODY_BYTES)
            delivery = Delivery.read(raw, request.path_params.get("tag"))
        except BodyTooLarge as error:
            return PlainTextResponse(error.message, 413)
        except TimeoutError:
            return PlainTextResponse("the body did not arrive in time", 408)
        except (ClientDisconnect, UnexpectedReply):
            return PlainTextResponse("the body is not JSON", 400)
        try:
            await _hand_over(sink, delivery)
        except Exception as error:
            # The sender may not try again, and nothing else tells a replica's end.
            lost = f"A callback was not taken, and may not come again. {error}. It says"
            _log.warning("%s: %s", lost, redact(delivery.body))
            if isinstance(error, PalprepError):
                return PlainTextResponse(error.code, 503)
            raise
        return Response(status_code=204)

    async def health(_: Request) -> Response:
        return PlainTextResponse("ready")

    routes = [
        Route("/health", health),
        Route("/{nonce}", receive, methods=["POST"]),
        Route("/{nonce}/{tag}", receive, methods=["POST"]),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _stranger})
    app.router.redirect_slashes = False  # It would answer strangers with a link of their making.
    return app


async def _stranger(_: Request, error: Exception) -> Response:
    """The answer to a wrong address, which closes the connection."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    return PlainTextResponse("not found", status, {"connection": "close"})


async def _hand_over(sink: Sink, delivery: Delivery) -> None:
    is_async = inspect.iscoroutinefunction(sink)
    result: object = sink(delivery) if is_async else await run_in_threadpool(sink, delivery)
    # A function can also return an awaitable, such as a partial of an async one does: the sender
    # must not be told that a callback is stored before it is.
    if inspect.isawaitable(result):
        await result


def new_nonce() -> str:
    """A secret path: 192 random bits."""
    return secrets.token_urlsafe(24)


def _require_secret(nonce: str) -> None:
    if not isinstance(nonce, str) or not _SEGMENT.fullmatch(nonce):
        raise UsageError(
            "The secret path of callbacks is one segment of an address, without slash and space, "
            "or no callback would arrive. secrets.token_urlsafe(24) makes one"
        )


@dataclass(frozen=True)
class PublicCallbacks:
    """Where the service reaches a server that takes callbacks into a journal: `palprep listen`, or
    one of your own. ``address`` is public, ``secret`` the path behind it. Raises UsageError for an
    address that is no link, and a secret that is not one segment of a path."""

    address: str
    secret: str = field(repr=False)

    def __post_init__(self) -> None:
        require_type("address", self.address, str)
        if not is_link(self.address) or not {*"@?#"}.isdisjoint(self.address):
            raise UsageError(
                f"The public URL {self.address.rpartition('@')[2]!r} is not of the form "
                "https://HOST[:PORT][/PATH], without a user and a query"
            )
        _require_secret(self.secret)

    def url_for(self, tag: str | None = None) -> str:
        """The address for the callback about the creation ``tag``. Raises UsageError for a tag with
        a slash, which would be two segments."""
        if "/" in (tag or ""):
            raise UsageError(
                f"The tag {tag!r} holds a slash: no callback would arrive. Leave it out"
            )
        place = self.address.rstrip("/"), self.secret, quote(tag or "", safe="")
        return "/".join(filter(None, place))


class CallbackServer:
    """Runs :func:`callback_app` on a socket of its own, in a thread, as a context manager.

    ``nonce`` is the secret path: where an address must outlive the server, make one with
    :func:`new_nonce` and keep it. ``port`` 0 takes a free one. ``public_url`` is how the service
    reaches this socket from outside (a tunnel, a reverse proxy). Raises UsageError for a value that
    cannot be used.
    """

    @typed("host", "public_url")
    def __init__(
        self,
        sink: Sink,
        *,
        nonce: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        public_url: str | None = None,
    ) -> None:
        self._secret = new_nonce() if nonce is None else nonce
        self._public = PublicCallbacks(public_url, self._secret) if public_url is not None else None
        app = callback_app(sink, nonce=self._secret)
        self._socket = listening_socket(host, port)
        self._server = ServerThread(app, self._socket, name="palprep-callbacks")

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    @property
    def origin(self) -> str:
        """Where it is reached, without the secret path. Raises UsageError when it is closed."""
        if self._socket.fileno() < 0:
            raise UsageError("The callback server is closed: keep it open until all has ended")
        return (self._public.address if self._public else url_of(self._socket)).rstrip("/")

    def url_for(self, tag: str | None = None) -> str:
        """The secret address to give as ``callback_url``. Raises UsageError for a tag with a
        slash, and when it is closed."""
        return PublicCallbacks(self.origin, self._secret).url_for(tag)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Answer what is under way, then stop."""
        self._server.stop()
