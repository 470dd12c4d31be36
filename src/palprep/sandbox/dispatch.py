"""Endpoints served: the path is matched as it came over the wire, then follow fault, key, body,
handler, log and answer, in this order.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Receive, Scope, Send

from palprep.api import UNSET, AccountSettings, Endpoint, json_value
from palprep.api.calls import ENDPOINTS
from palprep.errors import InvalidRequest, Problem
from palprep.sandbox.answers import (
    JsonAnswer,
    Refused,
    refuse_message,
    respond,
)
from palprep.sandbox.choices import image_error
from palprep.sandbox.endpoints import HANDLERS, REFUSALS, refuse_fields
from palprep.sandbox.faults import RequestFault
from palprep.sandbox.log import note_request
from palprep.sandbox.service import ApiKey, HandlerContext, KeyRing, Service
from palprep.serving import BodyTooLarge, read_body

log = logging.getLogger(__name__)

# Parsing more than this would keep every other request waiting.
PARSE_IN_THREAD_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request as it came in: ``body`` is None when it is too large, ``key`` when it is
    missing or wrong."""

    request: Request
    body: bytes | None
    key: ApiKey | None
    fault: RequestFault | None


class EndpointApp:
    """Serves one declared endpoint. Raises KeyError for one without a handler."""

    def __init__(self, endpoint: Endpoint[..., Any], service: Service, keys: KeyRing) -> None:
        self.endpoint = endpoint
        self._handler = HANDLERS[endpoint.name]
        self._refusal = REFUSALS.get(endpoint.name, refuse_fields)
        self._service = service
        self._keys = keys
        self._waits = inspect.iscoroutinefunction(self._handler)
        shape = endpoint.shape
        self._takes_body = shape.model is not None or shape.whole is not None
        self._limit = endpoint.max_body_bytes or service.choices.json_body_bytes
        self._settings = AccountSettings(
            reserved_prefix=service.choices.reserved_prefix,
            loopback_webhooks=service.choices.loopback_webhooks,
        )

    async def serve(self, request: Request) -> Response:
        """The answer to one request, unless a fault takes its place."""
        try:
            body = await self._read(request)
        except ClientDisconnect:
            return Response()  # the caller has gone
        key = self._keys.find(request.headers.get("x-api-key"))
        fault = self._service.faults.for_request(
            self.endpoint.name, request.method, request.scope["path"]
        )
        arrival = Arrival(request, body, key, fault)
        if fault is None:
            return respond(await self._answer(arrival))
        await asyncio.sleep(fault.delay)
        answer = None if fault.drop else scripted_answer(fault)
        if answer is not None:
            answer = self._noted(arrival, answer)
        elif fault.drop == "before_commit":
            self._note(arrival, None)
        else:
            answer = await self._answer(arrival)
        if answer is None or fault.drop:
            request.scope["state"]["abort"]()
            return Response()
        return respond(answer)

    async def _read(self, request: Request) -> bytes | None:
        """The body, None when it is too large.

        It is read before anything is decided: the caller then gets the answer, and a delay
        begins when the request is complete.
        """
        try:
            return await read_body(request, self._limit) if self._takes_body else b""
        except BodyTooLarge:
            return None

    async def _answer(self, arrival: Arrival) -> JsonAnswer:
        try:
            context = await self._context(arrival)
            if not self._waits:
                return self._at_once(arrival, context)
            answer = await cast("Awaitable[JsonAnswer]", self._handler(context))
        except Refused as refused:
            answer = refused.answer
        except Exception as error:
            # The caller's judge, or a defect: the request still gets an answer.
            log.exception("The sandbox failed on %s", self.endpoint.name)
            answer = JsonAnswer(500, {"error": f"The sandbox failed: {type(error).__name__}."})
        return self._noted(arrival, answer)

    def _at_once(self, arrival: Arrival, context: HandlerContext) -> JsonAnswer:
        """Handle and log in one transaction: nothing is created without a line in the log."""
        with self._service.store.transaction():
            try:
                answer = cast("JsonAnswer", self._handler(context))
            except Refused as refused:
                answer = refused.answer
            return self._noted(arrival, answer)

    async def _context(self, arrival: Arrival) -> HandlerContext:
        choices, body = self._service.choices, arrival.body
        if arrival.key is None:
            raise refuse_message(choices.invalid_key_status, "Invalid access token.")
        if body is None:
            problem = Problem("", "body_too_large", f"is more than {self._limit} bytes")
            refused = self._refusal(choices, [problem]).answer
            raise Refused(JsonAnswer(choices.body_too_large_status, refused.body))
        try:
            if len(body) > PARSE_IN_THREAD_BYTES:
                parsed, sent = await asyncio.to_thread(self._parse, arrival.request, body)
            else:
                parsed, sent = self._parse(arrival.request, body)
        except InvalidRequest as error:
            raise self._refusal(choices, error.problems) from None
        return HandlerContext(self._service, arrival.key, parsed, sent)

    def _parse(self, request: Request, body: bytes) -> tuple[Any, dict[str, Any]]:
        """The request by its declaration, and the members of its body as they were sent."""
        shape = self.endpoint.shape
        content = _content(body) if self._takes_body else UNSET
        try:
            parsed = self.endpoint.parse(
                request.path_params,
                content,
                query=request.query_params,
                headers=request.headers,
                settings=self._settings,
            )
        except RecursionError:
            raise _not_json("nested too deeply") from None
        values = {wire: getattr(parsed, name) for name, wire in shape.members.items()}
        other = getattr(parsed, shape.other or "", UNSET)
        sent = {wire: value for wire, value in values.items() if value is not UNSET}
        return parsed, sent if other is UNSET else {**other, **sent}

    def _noted(self, arrival: Arrival, answer: JsonAnswer) -> JsonAnswer:
        """The answer, in the log and with the number that it has there."""
        number = self._note(arrival, answer.status)
        return replace(answer, headers={**answer.headers, "x-request-id": str(number)})

    def _note(self, arrival: Arrival, status: int | None) -> int | None:
        request, key, fault = arrival.request, arrival.key, arrival.fault
        if self._service.recorder.keeping and not (fault and fault.in_its_place):
            self._keep(arrival)
        return note_request(
            self._service.store,
            at=self._service.now(),
            method=request.method,
            path=request.scope["path"],
            endpoint=self.endpoint.name,
            key=key.scope if key else None,
            status=status,
            fault=fault.model_dump_json(exclude_defaults=True) if fault else None,
            body=arrival.body,
        )

    def _keep(self, arrival: Arrival) -> None:
        request, scope = arrival.request, arrival.request.scope
        query = scope["query_string"]
        self._service.recorder.keep(
            self._service.now(),
            method=request.method,
            target=(scope["raw_path"] + (b"?" + query if query else b"")).decode("ascii"),
            key=arrival.key.scope if arrival.key else None,
            if_match=request.headers.get("if-match"),
            body=arrival.body or b"",
        )


def scripted_answer(fault: RequestFault) -> JsonAnswer | None:
    """What a fault answers instead of the handler; None when it only delays or drops."""
    if fault.variant is not None:
        return image_error(fault.variant).answer()
    if fault.status is None:
        return None
    body = fault.body
    if body is None and fault.status >= HTTPStatus.BAD_REQUEST:
        shape = "message" if fault.status == HTTPStatus.UNAUTHORIZED else "error"
        body = {shape: f"Status {fault.status}, as the fault script says."}
    return JsonAnswer(fault.status, body, fault.headers)


def _content(body: bytes) -> Any:
    try:
        return json_value(body)
    except ValueError as error:
        raise _not_json(str(error)) from None


def _not_json(why: str) -> InvalidRequest:
    problem = Problem("", "json_invalid", f"is not valid JSON: {why}")
    return InvalidRequest(problem.message, problems=(problem,))


@dataclass(frozen=True, slots=True)
class EndpointPath:
    """One path with the endpoint of each method. ``pattern`` matches it percent-encoded."""

    pattern: re.Pattern[str]
    methods: Mapping[str, EndpointApp]


class EndpointRoutes(BaseRoute):
    """All endpoints. The answer to a wrong method names the right ones.

    Identifiers are opaque, and one may hold a slash. Paths are therefore matched while they are
    still percent-encoded, where Starlette's own routes match them decoded.
    """

    def __init__(self, service: Service, keys: KeyRing) -> None:
        by_path: dict[str, dict[str, EndpointApp]] = {}
        for endpoint in ENDPOINTS:
            served = EndpointApp(endpoint, service, keys)
            by_path.setdefault(endpoint.path, {})[endpoint.method] = served
        self._paths: dict[str, list[EndpointPath]] = {}
        for path, methods in by_path.items():
            pattern = next(iter(methods.values())).endpoint.pattern
            if "GET" in methods:
                methods["HEAD"] = methods["GET"]
            self._paths.setdefault(_resource(path), []).append(EndpointPath(pattern, methods))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether this is one of the paths, and the method one of its methods."""
        if scope["type"] != "http":
            return Match.NONE, {}
        raw = scope["raw_path"].decode("ascii", "replace")
        for path in self._paths.get(_resource(raw), ()):
            if found := path.pattern.fullmatch(raw):
                params = {name: unquote(value) for name, value in found.groupdict().items()}
                match = Match.FULL if scope["method"] in path.methods else Match.PARTIAL
                return match, {"path_params": params, "endpoint": path}
        return Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request. Raises HTTPException 405 for another method."""
        methods = scope["endpoint"].methods
        served = methods.get(scope["method"])
        if served is None:
            raise HTTPException(405, headers={"Allow": ", ".join(methods)})
        response = await served.serve(Request(scope, receive, send))
        await response(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        """None: these routes have no names."""
        raise NoMatchFound(name, path_params)


def _resource(path: str) -> str:
    """``/v2/voices`` of ``/v2/voices/v_1``."""
    return "/".join(path.split("/", 3)[:3])
