"""No web page reaches the sandbox by a name of its own, and no page of another origin asks it."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from palprep.api.fields import is_loopback
from palprep.sandbox.answers import JsonAnswer
from palprep.sandbox.web import respond

REFUSED = JsonAnswer(403, {"error": "The sandbox is for programs and pages of this machine only."})


class LoopbackOnly:
    """Serves ``app`` to requests that name a loopback host, and come from no other origin.

    The sandbox's keys are public knowledge, and its routes under /_sandbox ask for none. A page
    could otherwise reach it by a name that resolves to this machine (DNS rebinding), or post to
    it from elsewhere.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not _from_here(Headers(scope=scope)):
            await respond(REFUSED)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _from_here(headers: Headers) -> bool:
    origin = headers.get("origin")
    return _names_loopback("//" + headers.get("host", "")) and (
        origin is None or _names_loopback(origin)
    )


def _names_loopback(url: str) -> bool:
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host is not None and is_loopback(host)
