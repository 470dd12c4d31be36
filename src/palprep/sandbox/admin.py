"""The asset host, and the routes under /_sandbox: a developer's control over HTTP."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from palprep.api.strict_json import json_value
from palprep.errors import UsageError
from palprep.sandbox.answers import JsonAnswer
from palprep.sandbox.assets import Assets, AssetTooLarge
from palprep.sandbox.control import Control, Missing
from palprep.sandbox.faults import parse_script
from palprep.sandbox.recorder import parse_recording
from palprep.sandbox.service import Service
from palprep.sandbox.web import BodyTooLarge, read_body, respond

MAX_ADMIN_BODY = 64 * 1024 * 1024

AdminHandler = Callable[[Request], Awaitable[Response]]


class Admin:
    """Handlers of ``/_sandbox/…`` and ``/assets/…``: a :class:`Control` over HTTP. They ask for
    no key."""

    def __init__(self, service: Service, control: Control, assets: Assets) -> None:
        self._service = service
        self._control = control
        self._assets = assets

    def routes(self) -> list[Route]:
        """All routes."""
        table: tuple[tuple[str, str, AdminHandler], ...] = (
            ("GET", "/log", self.log),
            ("GET", "/choices", self.choices),
            ("GET", "/faults", self.show_faults),
            ("POST", "/faults", self.load_faults),
            ("GET", "/clock", self.show_clock),
            ("POST", "/clock", self.advance),
            ("POST", "/seed", self.seed),
            ("POST", "/reset", self.reset),
            ("POST", "/trainings/{resource_id}/end", self.end_training),
            ("POST", "/conversations/{conversation_id}/end", self.end_conversation),
            ("POST", "/conversations/{conversation_id}/call_tool", self.call_tool),
            ("POST", "/callbacks/{number:int}/resend", self.resend),
            ("POST", "/recording", self.record),
            ("GET", "/recording", self.recording),
            ("POST", "/replay", self.replay),
            ("PUT", "/assets/{name}", self.put_asset),
        )
        return [
            *(Route("/_sandbox" + path, _explained(h), methods=[m]) for m, path, h in table),
            Route("/assets/{token}/{name}", self.get_asset, methods=["GET", "HEAD"]),
        ]

    async def log(self, _: Request) -> Response:
        """``{requests, callbacks, creates}``."""
        return _ok(self._control.log())

    async def choices(self, _: Request) -> Response:
        """``{choices: [...]}``."""
        return _ok({"choices": self._control.choices()})

    async def show_faults(self, _: Request) -> Response:
        """``{waiting: [...]}``."""
        return _ok({"waiting": self._control.faults()})

    async def load_faults(self, request: Request) -> Response:
        """The body is the script."""
        self._control.load_faults(parse_script(await _json(request)))
        return await self.show_faults(request)

    async def show_clock(self, _: Request) -> Response:
        """``{clock, now}``: real or virtual, and seconds since the epoch."""
        clock = self._service.clock
        return _ok({"clock": clock.kind, "now": clock.now()})

    async def advance(self, request: Request) -> Response:
        """Takes ``{advance: SECONDS}``."""
        await self._control.advance(_members(await _json(request)).get("advance"))
        return await self.show_clock(request)

    async def seed(self, request: Request) -> Response:
        """The body is the seed; ``{stored: {kind: number}}``."""
        return _ok({"stored": self._control.seed(await _json(request))})

    async def reset(self, _: Request) -> Response:
        """204."""
        await self._control.reset()
        return Response(status_code=204)

    async def end_training(self, request: Request) -> Response:
        """Takes ``{error_message}`` or nothing; the record."""
        sent = _members(await _json(request, empty={}))
        resource_id = request.path_params["resource_id"]
        return _ok(await self._control.end_training(resource_id, sent.get("error_message")))

    async def end_conversation(self, request: Request) -> Response:
        """Takes ``{arguments}`` or nothing; the record."""
        sent = _members(await _json(request, empty={}))
        conversation_id = request.path_params["conversation_id"]
        return _ok(await self._control.end_conversation(conversation_id, sent.get("arguments")))

    async def call_tool(self, request: Request) -> Response:
        """Takes ``{name, arguments}``; what came of it."""
        sent = _members(await _json(request))
        conversation_id = request.path_params["conversation_id"]
        return _ok(
            await self._control.call_tool(conversation_id, sent.get("name"), sent.get("arguments"))
        )

    async def resend(self, request: Request) -> Response:
        """204."""
        await self._control.resend(request.path_params["number"])
        return Response(status_code=204)

    async def record(self, _: Request) -> Response:
        """204."""
        self._control.record()
        return Response(status_code=204)

    async def recording(self, _: Request) -> Response:
        """``{requests: [...]}``, to be given to ``/replay``."""
        return _ok(self._control.recording().to_json())

    async def replay(self, request: Request) -> Response:
        """The body is a recording. 204."""
        await self._control.replay(parse_recording(await _json(request)))
        return Response(status_code=204)

    async def put_asset(self, request: Request) -> Response:
        """The body is the file, ``expires_in`` its lifetime in seconds; ``{url}``.

        413 for a file that is too large, 507 when the disk refuses.
        """
        name = request.path_params["name"]
        try:
            url = await self._control.put_asset(name, request.stream(), _lifetime(request))
        except AssetTooLarge as error:
            return respond(JsonAnswer(413, {"error": error.message}))
        except OSError as error:
            return respond(
                JsonAnswer(507, {"error": f"The asset cannot be stored: {error.strerror}"})
            )
        except ClientDisconnect:
            return Response(status_code=400)  # no one is there to read it
        return _ok({"url": url})

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


def _ok(body: Any) -> Response:
    return respond(JsonAnswer(body=body))


def _explained(handler: AdminHandler) -> AdminHandler:
    async def explained(request: Request) -> Response:
        try:
            return await handler(request)
        except Missing as error:
            return respond(JsonAnswer(404, {"error": error.message}))
        except UsageError as error:
            return respond(JsonAnswer(400, {"error": error.message}))
        except BodyTooLarge as error:
            return respond(JsonAnswer(413, {"error": error.message}))

    return explained


def _lifetime(request: Request) -> float | None:
    given = request.query_params.get("expires_in")
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds):
        raise UsageError("expires_in is a number of seconds.")
    return seconds


def _members(content: Any) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise UsageError("The body must be a JSON object.")
    return content


async def _json(request: Request, *, empty: Any = None) -> Any:
    body = await read_body(request, MAX_ADMIN_BODY)
    if not body and empty is not None:
        return empty
    try:
        return json_value(body)
    except ValueError as error:
        raise UsageError(f"The body is not JSON: {error}.") from error
