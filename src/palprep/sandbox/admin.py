"""The asset host, and the routes under /_sandbox, which serve the developer."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote, urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from palprep.errors import UsageError
from palprep.sandbox.answers import JsonAnswer
from palprep.sandbox.assets import Assets, AssetTooLarge
from palprep.sandbox.choices import listing
from palprep.sandbox.conversations import end_conversation
from palprep.sandbox.faults import parse_script
from palprep.sandbox.log import show_log
from palprep.sandbox.scheduler import Scheduler
from palprep.sandbox.seed import seed
from palprep.sandbox.service import Service
from palprep.sandbox.web import BodyTooLarge, json_value, read_body, respond

MAX_ADMIN_BODY = 64 * 1024 * 1024
MAX_ADVANCE_S = 10 * 366 * 86400

AdminHandler = Callable[[Request], Awaitable[Response]]


class Admin:
    """Handlers of ``/_sandbox/…`` and ``/assets/…``. They ask for no key.

    Instead every request under /_sandbox must name a loopback host: no web page can then reach
    them by a name of its own that resolves here. It must not come from a page of another origin
    either.
    """

    def __init__(self, service: Service, scheduler: Scheduler, assets: Assets) -> None:
        self._service = service
        self._scheduler = scheduler
        self._assets = assets

    def routes(self) -> list[Route]:
        """All routes, those under /_sandbox guarded."""
        table: tuple[tuple[str, str, AdminHandler], ...] = (
            ("GET", "/log", self.log),
            ("GET", "/choices", self.choices),
            ("GET", "/faults", self.show_faults),
            ("POST", "/faults", self.load_faults),
            ("GET", "/clock", self.show_clock),
            ("POST", "/clock", self.advance),
            ("POST", "/seed", self.seed),
            ("POST", "/conversations/{conversation_id}/end", self.end_conversation),
            ("PUT", "/assets/{name}", self.put_asset),
        )
        return [
            *(Route("/_sandbox" + path, _guarded(h), methods=[m]) for m, path, h in table),
            Route("/assets/{token}/{name}", self.get_asset, methods=["GET", "HEAD"]),
        ]

    async def log(self, _: Request) -> Response:
        """``{requests, callbacks, creates}``; see :func:`palprep.sandbox.log.show_log`."""
        return respond(JsonAnswer(body=show_log(self._service.store)))

    async def choices(self, _: Request) -> Response:
        """``{choices: [...]}``: what this sandbox decides where the specification is silent."""
        return respond(JsonAnswer(body={"choices": listing(self._service.choices)}))

    async def show_faults(self, _: Request) -> Response:
        """``{waiting: [...]}``: the faults that can still strike."""
        return respond(JsonAnswer(body={"waiting": self._service.faults.waiting()}))

    async def load_faults(self, request: Request) -> Response:
        """Replace the script of faults by the body. Raises UsageError for what is not one."""
        self._service.faults.load(parse_script(await _json(request)))
        return await self.show_faults(request)

    async def show_clock(self, _: Request) -> Response:
        """``{clock, now}``: real or virtual, and seconds since the epoch."""
        clock = self._service.clock
        return respond(JsonAnswer(body={"clock": clock.kind, "now": clock.now()}))

    async def advance(self, request: Request) -> Response:
        """Move the clock by ``{advance: SECONDS}``, doing all that falls due.

        Raises UsageError for a number out of range.
        """
        await self._scheduler.advance(_seconds(await _json(request)))
        return await self.show_clock(request)

    async def seed(self, request: Request) -> Response:
        """Store the records in the body; ``{stored: {kind: number}}``.

        Raises UsageError for what is not a seed.
        """
        stored = seed(self._service, await _json(request))
        return respond(JsonAnswer(body={"stored": stored}))

    async def end_conversation(self, request: Request) -> Response:
        """End an active conversation, with arguments for its post-call tools; its record.

        404 when there is no such conversation. Raises UsageError for other arguments.
        """
        content = await _json(request, empty={})
        arguments = content.get("arguments", {}) if isinstance(content, dict) else None
        if not isinstance(arguments, dict):
            raise UsageError('Arguments are {"arguments": {"tool name": {...}}}.')
        with self._service.store.transaction():
            ended = end_conversation(
                self._service, request.path_params["conversation_id"], arguments
            )
        if ended is None:
            return respond(JsonAnswer(404, {"error": "There is no such active conversation."}))
        return respond(JsonAnswer(body=ended))

    async def put_asset(self, request: Request) -> Response:
        """Publish the body under a name: ``{url}``, good for ``expires_in`` seconds.

        413 for a file that is too large, 507 when the disk refuses. Raises UsageError when
        ``expires_in`` is not a number.
        """
        lifetime = _lifetime(request, self._service.choices.asset_seconds)
        name = request.path_params["name"]
        try:
            asset = await self._assets.receive(name, request.stream(), lifetime=lifetime)
        except AssetTooLarge as error:
            return respond(JsonAnswer(413, {"error": error.message}))
        except OSError as error:
            return respond(
                JsonAnswer(507, {"error": f"The asset cannot be stored: {error.strerror}"})
            )
        except ClientDisconnect:
            return Response(status_code=400)  # no one is there to read it
        base = self._service.base_url
        return respond(JsonAnswer(body={"url": f"{base}/assets/{asset.token}/{quote(name)}"}))

    async def get_asset(self, request: Request) -> Response:
        """The published file, whole or in ranges; 403 when its URL has expired."""
        asset = self._assets.find(request.path_params["token"], request.path_params["name"])
        if asset is None:
            return respond(JsonAnswer(404, {"error": "There is no such asset."}))
        fault = self._service.faults.for_asset(asset.name)
        if self._assets.expired(asset) or (fault and fault.effect == "expired"):
            return respond(JsonAnswer(403, {"error": "This URL has expired."}))
        if fault:
            request.scope["state"]["abort"]()
            return Response()
        return FileResponse(asset.path, media_type=asset.content_type)


def _guarded(handler: AdminHandler) -> AdminHandler:
    async def guarded(request: Request) -> Response:
        origin = request.headers.get("origin")
        if not _is_loopback(request.url.hostname) or (
            origin is not None and not _is_loopback(urlsplit(origin).hostname)
        ):
            return respond(JsonAnswer(403, {"error": "/_sandbox is for this machine only."}))
        try:
            return await handler(request)
        except UsageError as error:
            return respond(JsonAnswer(400, {"error": error.message}))
        except BodyTooLarge as error:
            return respond(JsonAnswer(413, {"error": error.message}))

    return guarded


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


def _lifetime(request: Request, default: float) -> float:
    try:
        return float(request.query_params.get("expires_in", default))
    except ValueError as error:
        raise UsageError("expires_in is a number of seconds.") from error


def _seconds(content: Any) -> float:
    seconds = content.get("advance") if isinstance(content, dict) else None
    if (
        isinstance(seconds, int | float)
        and not isinstance(seconds, bool)
        and 0 <= seconds <= MAX_ADVANCE_S
    ):
        return seconds
    raise UsageError('Say how far: {"advance": SECONDS}, from 0 to ten years.')


async def _json(request: Request, *, empty: Any = None) -> Any:
    body = await read_body(request, MAX_ADMIN_BODY)
    if not body and empty is not None:
        return empty
    try:
        return json_value(body)
    except ValueError as error:
        raise UsageError(f"The body is not JSON: {error}.") from error
