"""One endpoint served: fault, key, body, handler, log, answer; in this order."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
from collections.abc import Awaitable
from http import HTTPStatus
from typing import Any, Never, cast

from starlette.requests import Request
from starlette.responses import Response

from palprep.api.wire import UNSET, Settings
from palprep.errors import InvalidRequest, Problem
from palprep.sandbox.answers import Answer, Refused, refuse_message
from palprep.sandbox.call import Call
from palprep.sandbox.choices import image_error
from palprep.sandbox.faults import RequestFault
from palprep.sandbox.keys import ApiKey, KeyRing
from palprep.sandbox.log import note_request
from palprep.sandbox.routes import Serving
from palprep.sandbox.service import Service
from palprep.sandbox.web import BodyTooLarge, forget_body, read_body, respond

# Parsing more than this would keep every other request waiting.
PARSE_IN_THREAD_BYTES = 256 * 1024


class EndpointApp:
    """Serves one declared endpoint."""

    def __init__(self, serving: Serving, service: Service, keys: KeyRing) -> None:
        self._endpoint = serving.endpoint
        self._handler = serving.handler
        self._refusal = serving.refusal
        self._service = service
        self._keys = keys
        self._waits = inspect.iscoroutinefunction(serving.handler)
        shape = serving.endpoint.shape
        self._takes_body = shape.model is not None or shape.whole is not None
        self._limit = serving.endpoint.max_body_bytes or service.choices.json_body_bytes
        self._settings = Settings(reserved_prefix=service.choices.reserved_prefix)

    async def serve(self, request: Request) -> Response:
        """The answer to one request, unless a fault takes its place."""
        key = self._keys.find(request.headers.get("x-api-key"))
        fault = self._service.faults.for_request(
            self._endpoint.name, request.method, request.url.path
        )
        if fault is None:
            return respond(await self._answer(request, key, None))
        await asyncio.sleep(fault.delay)
        scripted = None if fault.drop else scripted_answer(fault)
        if scripted is not None or fault.drop == "before_commit":
            self._note(request, key, scripted, fault)
        else:
            scripted = await self._answer(request, key, fault)
        if fault.drop or scripted is None:
            request.scope["state"]["abort"]()
            return Response()
        await forget_body(request)
        return respond(scripted)

    async def _answer(
        self, request: Request, key: ApiKey | None, fault: RequestFault | None
    ) -> Answer:
        try:
            call = await self._call(request, key)
            if self._waits:
                answer = await cast("Awaitable[Answer]", self._handler(call))
            else:
                return self._at_once(request, call, fault)
        except Refused as refused:
            answer = refused.answer
        self._note(request, key, answer, fault)
        return answer

    def _at_once(self, request: Request, call: Call, fault: RequestFault | None) -> Answer:
        """Handle and log in one transaction: what was created is never without its line."""
        with self._service.store.transaction():
            try:
                answer = cast("Answer", self._handler(call))
            except Refused as refused:
                answer = refused.answer
            self._note(request, call.key, answer, fault)
        return answer

    async def _call(self, request: Request, key: ApiKey | None) -> Call:
        if key is None:
            await forget_body(request)
            raise refuse_message(self._service.choices.invalid_key_status, "Invalid access token.")
        body = await self._body(request) if self._takes_body else UNSET
        arguments = (request.path_params, request.query_params, request.headers, body)
        try:
            if isinstance(body, bytes) and len(body) > PARSE_IN_THREAD_BYTES:
                parsed, sent = await asyncio.to_thread(self._parse, *arguments)
            else:
                parsed, sent = self._parse(*arguments)
        except InvalidRequest as error:
            raise self._refusal(self._service.choices, error.problems) from None
        return Call(self._service, key, parsed, sent)

    async def _body(self, request: Request) -> bytes:
        try:
            return await read_body(request, self._limit)
        except BodyTooLarge:
            problem = Problem("", "body_too_large", f"is more than {self._limit} bytes")
            refused = self._refusal(self._service.choices, [problem])
            status = self._service.choices.body_too_large_status
            raise Refused(Answer(status, refused.answer.body)) from None

    def _parse(self, path: Any, query: Any, headers: Any, body: Any) -> tuple[Any, dict[str, Any]]:
        """The request by its declaration, and the members of its body as they were sent."""
        try:
            content = json_value(body) if isinstance(body, bytes) else UNSET
            request = self._endpoint.parse(
                path, content, query=query, headers=headers, settings=self._settings
            )
        except RecursionError:
            raise not_json("nested too deeply") from None
        members = self._endpoint.shape.members.items()
        values = {wire: getattr(request, name) for name, wire in members}
        other = getattr(request, self._endpoint.shape.other or "", UNSET)
        sent = {wire: value for wire, value in values.items() if value is not UNSET}
        return request, sent if other is UNSET else {**other, **sent}

    def _note(
        self, request: Request, key: ApiKey | None, answer: Answer | None, fault: Any
    ) -> None:
        note_request(
            self._service.store,
            at=self._service.now(),
            method=request.method,
            path=request.url.path,
            endpoint=self._endpoint.name,
            key=key.scope if key else None,
            status=answer.status if answer else None,
            fault=None if fault is None else fault.model_dump_json(exclude_defaults=True),
        )


def scripted_answer(fault: RequestFault) -> Answer | None:
    """What a fault answers in place of the handler, or None when it only delays or drops."""
    if fault.variant is not None:
        return image_error(fault.variant).answer()
    if fault.status is None:
        return None
    body = fault.body
    if body is None:
        shape = "message" if fault.status == HTTPStatus.UNAUTHORIZED else "error"
        body = {shape: f"Status {fault.status}, as the fault script says."}
    return Answer(fault.status, body, fault.headers)


def json_value(body: bytes) -> Any:
    """Strict JSON: no NaN, no number that is not finite. Raises :class:`InvalidRequest`."""
    try:
        return json.loads(body, parse_constant=_not_finite, parse_float=_finite)
    except RecursionError:
        raise
    except ValueError as error:
        raise not_json(str(error)) from None


def not_json(why: str) -> InvalidRequest:
    problem = Problem("", "json_invalid", f"is not valid JSON: {why}")
    return InvalidRequest(problem.message, problems=(problem,))


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _not_finite(text)


def _not_finite(text: str) -> Never:
    raise ValueError(f"{text} is no finite number")
