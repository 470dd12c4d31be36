"""How endpoints are served: their handlers, and the answers to broken rules.

A request goes through the match of its path, faults, key, body, handler and log, in this order.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from palprep.api import UNSET, Endpoint, json_value
from palprep.api.calls import ENDPOINTS
from palprep.errors import InvalidRequest, Problem
from palprep.sandbox.answers import FORGOTTEN, JsonAnswer, Refused, refuse_message, respond
from palprep.sandbox.choices import Choices, bad_fields, bad_patch, image_error
from palprep.sandbox.faults import RequestFault
from palprep.sandbox.handlers import conversations, likenesses, seeded, tools
from palprep.sandbox.log import Arrival, note_request
from palprep.sandbox.service import Handler, HandlerContext, Service
from palprep.serving import BodyTooLarge, read_body

log = logging.getLogger(__name__)

WRITTEN_S = 0.01
"""Seconds for the last bytes to leave before their connection is cut."""

Refusal = Callable[[Choices, Sequence[Problem]], Refused]


def refuse_fields(choices: Choices, problems: Sequence[Problem]) -> Refused:
    return bad_fields(choices, {p.field or "body": p.message for p in reversed(problems)})


def refuse_patch(choices: Choices, problems: Sequence[Problem]) -> Refused:
    first = problems[0]
    return bad_patch(choices, f"{first.field} {first.message}".strip())


# By field and broken rule. Every other broken rule is an invalid_request_body.
_IMAGE_VARIANTS: Mapping[tuple[str, str], str] = {
    ("imageBase64", "missing"): "image_required",
    ("imageBase64", "string_too_short"): "image_required",
    ("imageBase64", "string_too_long"): "image_too_large",
    ("imageBase64", "data_url"): "invalid_base64",
    ("mimeType", "literal_error"): "unsupported_mime_type",
    ("model", "literal_error"): "unsupported_model",
    ("", "body_too_large"): "image_too_large",
}


def refuse_image(choices: Choices, problems: Sequence[Problem]) -> Refused:  # noqa: ARG001
    first = problems[0]
    variant = _IMAGE_VARIANTS.get((first.field, first.rule), "invalid_request_body")
    detail = f"{first.field or 'The body'} {first.message}."
    return Refused(image_error(variant).answer(detail))


HANDLERS: Mapping[str, Handler] = {
    "connectors.runtime_check": conversations.check_connector,
    "conversations.create": conversations.create_conversation,
    "deployments.delete": partial(HandlerContext.delete, kind="deployment"),
    "deployments.get": lambda context: seeded.show_deployment(context.find("deployment")),
    "deployments.patch": seeded.patch_deployment,
    "documents.get": lambda context: seeded.show_document(context.find("document")),
    "faces.validate_image": likenesses.validate_face,
    "pals.delete": partial(HandlerContext.delete, kind="pal"),
    "pals.replace_skills": conversations.replace_skills,
    "pronunciation_dictionaries.get": seeded.get_dictionary,
    "replicas.create": likenesses.create_replica,
    "replicas.get": partial(HandlerContext.show, kind="replica"),
    "replicas.validate_image": partial(
        likenesses.validate_face, pose_key="pose_suitable_for_replica"
    ),
    "tools.create": tools.create_tool,
    "tools.delete": tools.delete_tool,
    "tools.get": partial(HandlerContext.find, kind="tool"),
    "tools.list": lambda context: {"data": context.service.store.all("tool")},
    "videos.rename": seeded.rename_video,
    "voices.create": likenesses.create_voice,
    "voices.get": partial(HandlerContext.show, kind="voice"),
    "voices.list": likenesses.list_voices,
    "voices.update": likenesses.update_voice,
}

REFUSALS: Mapping[str, Refusal] = {
    "deployments.patch": refuse_patch,
    "faces.validate_image": refuse_image,
    "replicas.validate_image": refuse_image,
}


async def in_part(request: Request, body: bytes, fault: RequestFault) -> AsyncIterator[bytes]:
    """The body of an answer, slowed down or cut off as the fault says."""
    part = body[: fault.cut]
    for piece in [part[at : at + 1] for at in range(len(part))] if fault.drip else [part]:
        yield piece
        await asyncio.sleep(fault.drip)
    if fault.cut is not None:
        await asyncio.sleep(WRITTEN_S)
        request.scope["state"]["abort"]()
        await asyncio.sleep(0)


class EndpointApp:
    """Serves one declared endpoint. Raises KeyError for one without a handler."""

    def __init__(self, endpoint: Endpoint[..., Any], service: Service) -> None:
        self.endpoint = endpoint
        self._handler = HANDLERS[endpoint.name]
        self._refusal = REFUSALS.get(endpoint.name, refuse_fields)
        self._service = service
        self._waits = inspect.iscoroutinefunction(self._handler)
        self._status = success_status(endpoint, service.choices)
        self._limit = endpoint.max_body_bytes or service.choices.json_body_bytes

    async def serve(self, request: Request) -> Response:
        """The answer to one request, unless a fault takes its place."""
        body: bytes | None = b""
        try:
            # First, so that a delay begins when the request is complete, and that the caller is no
            # longer sending when the answer comes.
            if self.endpoint.shape.takes_body:
                body = await read_body(request, self._limit)
        except BodyTooLarge:
            body = None
        except ClientDisconnect:
            return Response()  # The caller has gone.
        key = self._service.keys.get(request.headers.get("x-api-key", ""))
        fault = self._service.faults.striking(
            RequestFault,
            endpoint=self.endpoint.name,
            method=request.method,
            path=request.scope["path"],
        )
        store = self._service.store
        arrival = Arrival(self.endpoint.name, request, body, key, fault, store.cleared)
        if fault is None:
            return respond(await self._answer(arrival))
        await asyncio.sleep(fault.delay)
        if fault.in_its_place:
            answer = self._noted(arrival, scripted_answer(fault))
        else:
            answer = await self._answer(arrival)
        if fault.drop:
            request.scope["state"]["abort"]()
            return Response()
        response = respond(answer)
        if fault.cut is None and not fault.drip:
            return response
        pieces = in_part(request, bytes(response.body), fault)
        streamed = StreamingResponse(pieces, response.status_code)
        streamed.raw_headers = response.raw_headers
        return streamed

    async def _answer(self, arrival: Arrival) -> JsonAnswer:
        try:
            context = self._context(arrival)
            if self._service.store.cleared != arrival.cleared:
                return FORGOTTEN
            if self._waits:
                return self._noted(arrival, await self._handler(context))
            # In one transaction: nothing is created without a line in the log.
            with self._service.store.transaction():
                return self._noted(arrival, self._handler(context))
        except Refused as refused:
            answer = refused.answer
        except (OSError, sqlite3.OperationalError) as error:  # The disk is full, or gone.
            message = f"The sandbox failed: {getattr(error, 'strerror', None) or error}."
            log.warning("%s (%s)", message, self.endpoint.name)
            answer = JsonAnswer(500, {"error": message})
        except Exception as error:
            # A defect of the sandbox or of the caller's judge: the request still gets an answer.
            log.exception("The sandbox failed on %s", self.endpoint.name)
            answer = JsonAnswer(500, {"error": f"The sandbox failed: {type(error).__name__}."})
        with suppress(sqlite3.OperationalError):
            return self._noted(arrival, answer)
        return answer  # There is no room for a line in the log.

    def _context(self, arrival: Arrival) -> HandlerContext:
        choices, body = self._service.choices, arrival.body
        if arrival.key is None:
            raise refuse_message(choices.invalid_key_status, "Invalid access token.")
        if body is None:
            problem = Problem("", "body_too_large", f"is more than {self._limit} bytes")
            refused = self._refusal(choices, [problem]).answer
            raise Refused(JsonAnswer(choices.body_too_large_status, refused.body))
        try:
            parsed, sent = self._parse(arrival.request, body)
        except InvalidRequest as error:
            raise self._refusal(choices, error.problems) from None
        return HandlerContext(self._service, arrival.key, parsed, sent)

    def _parse(self, request: Request, body: bytes) -> tuple[Any, Any]:
        shape = self.endpoint.shape
        try:
            parsed = self.endpoint.parse(
                request.path_params,
                json_value(body) if shape.takes_body else UNSET,
                query=request.query_params,
                headers=request.headers,
            )
        except ValueError as error:
            problem = Problem("", "json_invalid", f"is not valid JSON: {error}")
            raise InvalidRequest(problem.message, problems=(problem,)) from None
        if not shape.takes_body:
            return parsed, {}
        sent = {name: value for name, value in vars(parsed).items() if value is not UNSET}
        return parsed, shape.body(sent)

    def _noted(self, arrival: Arrival, result: Any) -> JsonAnswer:
        """Log ``result``, an answer or the body of a success. Returns the answer with its number in
        the log as its request id."""
        answer = result if isinstance(result, JsonAnswer) else JsonAnswer(self._status, result)
        service, fault = self._service, arrival.fault
        if service.store.cleared != arrival.cleared:
            return FORGOTTEN  # The log was emptied since the request arrived.
        lost = fault is not None and fault.drop == "before_commit"
        number = note_request(service.store, service.now(), arrival, None if lost else answer)
        headers = {**answer.headers, "x-request-id": str(number)}
        return JsonAnswer(answer.status, answer.body, headers)


def success_status(endpoint: Endpoint[..., Any], choices: Choices) -> int:
    if endpoint.name == "tools.create":
        return choices.tool_created_status
    if endpoint.action == "create":
        return choices.created_status
    return choices.deleted_status if endpoint.method == "DELETE" else HTTPStatus.OK


def scripted_answer(fault: RequestFault) -> JsonAnswer | None:
    """A fault's answer in place of the handler's; None when it drops the connection."""
    if fault.variant is not None:
        return image_error(fault.variant).answer()
    if fault.status is None:
        return None
    body = fault.body
    if body is None and fault.status >= HTTPStatus.BAD_REQUEST:
        shape = "message" if fault.status == HTTPStatus.UNAUTHORIZED else "error"
        body = {shape: f"Status {fault.status}, as the fault script says."}
    return JsonAnswer(fault.status, body, fault.headers)


class EndpointRoutes(BaseRoute):
    """All endpoints. A path is matched while it is still percent-encoded, where Starlette matches
    paths decoded: identifiers are opaque, and one may hold a slash."""

    def __init__(self, service: Service) -> None:
        self._served = [EndpointApp(endpoint, service) for endpoint in ENDPOINTS]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.FULL if scope["raw_path"].startswith(b"/v2/") else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises HTTPException for an unknown path or a wrong method."""
        raw = scope["raw_path"].decode("ascii", "replace")
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        fits = [each for each in self._served if each.endpoint.match(raw) is not None]
        if not fits:
            raise HTTPException(404)
        # ENDPOINTS begins with those that are specified: a fixed path comes before /{replica_id}.
        there = {e.endpoint.method: e for e in fits if e.endpoint.path == fits[0].endpoint.path}
        if method not in there:
            allowed = ", ".join(there).replace("GET", "GET, HEAD")
            raise HTTPException(405, headers={"Allow": allowed})
        served = there[method]
        scope["path_params"] = served.endpoint.match(raw)
        response = await served.serve(Request(scope, receive, send))
        await response(scope, receive, send)
