"""No web page reaches the sandbox by a name of its own, and no page of another machine asks it."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from palprep.api.fields import is_loopback
from palprep.sandbox.answers import JsonAnswer
from palprep.sandbox.web import respond

REFUSED = JsonAnswer(403, {"error": "The sandbox is for programs and pages of this machine only."})


class LoopbackOnly:
    """Serves ``app`` to requests that name a loopback host, and come from no page of another one.

    The sandbox's keys are public knowledge, and its routes under /_sandbox ask for none. A page
    could otherwise reach it by a name that resolves to this machine (DNS rebinding), or post to
    it from elsewhere. Pages of this machine may, on whatever port: developing one is what the
    sandbox is for.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._known: bytes | None = None
        """The Host that was accepted last; most requests have the same."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._from_here(scope["headers"]):
            await respond(REFUSED)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _from_here(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        host = b""
        for name, value in headers:
            if name == b"host":
                host = value
            elif name == b"origin" and not _names_loopback(value.decode("latin-1")):
                return False
        if host != self._known:
            if not _names_loopback("//" + host.decode("latin-1")):
                return False
            self._known = host
        return True


def _names_loopback(url: str) -> bool:
    if "\\" in url:
        return False  # Browsers and urlsplit do not agree which host that names.
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host is not None and is_loopback(host)
