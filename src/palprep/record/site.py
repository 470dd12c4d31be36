"""A site on loopback for whoever has its link, and for no page of another site."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from palprep import serving, storage, views
from palprep.errors import OutputUnwritable, PalprepError

HOST = "127.0.0.1"

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "media-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
"""The policy of pages: nothing from elsewhere, no inline script or style, no frame around them."""

_STRANGERS_POLICY = "default-src 'none'; sandbox"
"""The policy of a person's files: nothing in them may run, whatever they are."""

_GRACE_S = 1

_STATUSES = {serving.BodyTooLarge: 413, OutputUnwritable: 507}

_HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(self), microphone=(self)",
    # With "no-referrer" a form of the page would send the origin "null".
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


class Uploads(serving.ImpatientProtocol):
    """Uploads come from this machine, so a slow one is an attack."""

    least_rate = 100_000
    max_connections = 50

    def shutdown(self) -> None:
        """Cut an answer that does not end, such as a paused video, before uvicorn cuts it and logs
        a traceback."""
        super().shutdown()
        self.loop.call_later(_GRACE_S / 2, self.transport.abort)


class LocalSite:
    """Serves ``routes`` on 127.0.0.1 behind a secret path while it is entered, with the style and
    the script of the page ``name``. ``ended`` is set when somebody closes the page.

    ``port`` 0 takes a free one. A request needs the secret (192 random bits), this very host and
    port in ``Host`` (a name that resolves to this machine has another one), and must come from no
    other site's page, nor from a page of another port. Raises UsageError for a port in use.
    """

    def __init__(self, name: str, routes: Iterable[Route], *, port: int) -> None:
        self._listener = serving.listening_socket(HOST, port)
        # Browsers leave port 80 out.
        self.origin = serving.url_of(self._listener).removesuffix(":80")
        self.ended = threading.Event()
        secret = secrets.token_urlsafe(24)
        self.link = f"{self.origin}/{secret}/"
        own = [*routes, Route("/done", self._done, methods=["POST"])]
        for file, mime in ((f"{name}.css", "text/css"), (f"{name}.js", "text/javascript")):
            asset = Response(views.page_asset(file), media_type=mime)
            own.append(Route(f"/{file}", asset, methods=["GET"]))
        errors: dict[Any, Any] = dict.fromkeys((HTTPException, PalprepError, OSError), _refused)
        app = Starlette(routes=[Mount(f"/{secret}", routes=own)], exception_handlers=errors)
        app.router.redirect_slashes = False
        guarded = _Guard(app, self.origin, secret)
        self._server = serving.ServerThread(
            guarded, self._listener, name="palprep-page", http=Uploads, grace_s=_GRACE_S
        )

    def _done(self, _: Request) -> Response:
        self.ended.set()
        return JSONResponse({})

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()


class _Guard:
    """Lets only requests of the page's user through, and adds the headers to every answer."""

    def __init__(self, app: ASGIApp, origin: str, secret: str) -> None:
        self._app, self._origin = app, origin
        self._host, self._secret = origin.removeprefix("http://"), secret

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def closed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("content-security-policy", _POLICY)
            await send(message)

        stranger = PlainTextResponse("not found", 404, {"connection": "close"})
        await (self._app if self._may_ask(scope) else stranger)(scope, receive, closed)

    def _may_ask(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        given = scope["path"].removeprefix("/").partition("/")[0]
        reads = scope["method"] in {"GET", "HEAD"}
        # A link may be followed from anywhere. All other requests must come from this page.
        followed = reads and headers.get("sec-fetch-mode") == "navigate"
        site = headers.get("sec-fetch-site", "same-origin")
        return (
            hosts == [self._host]
            and hmac.compare_digest(given.encode(), self._secret.encode())
            and (origins == [self._origin] or (reads and not origins))
            and (site in {"same-origin", "none"} or followed)
        )


async def _refused(_: Request, error: HTTPException | PalprepError | OSError) -> Response:
    if isinstance(error, FileNotFoundError):
        gone = f"{error.filename} was removed or moved: put it back and try again"
        error = HTTPException(404, gone)
    elif isinstance(error, OSError):  # The disk is full, for example.
        error = storage.unwritable(Path(error.filename or "The person's folder"), error)
    if isinstance(error, PalprepError):
        error = HTTPException(_STATUSES.get(type(error), 409), error.message)
    return JSONResponse({"error": error.detail}, error.status_code, {"connection": "close"})


def strangers_file(path: Path) -> Response:
    """An answer with a person's file, in which nothing runs. Raises HTTPException without one."""
    if path.is_symlink() or not path.is_file():
        raise HTTPException(404, "That file is not there any more: load the page again")
    return FileResponse(path, headers={"content-security-policy": _STRANGERS_POLICY})
