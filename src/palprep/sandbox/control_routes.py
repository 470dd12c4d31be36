"""The controls over HTTP: the routes under ``/_sandbox``, and their OpenAPI document.

They ask for no key.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping
from types import NoneType
from typing import Any, get_type_hints

from pydantic import TypeAdapter
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from palprep._version import __version__
from palprep.api import json_value
from palprep.errors import UsageError
from palprep.sandbox.answers import JsonAnswer, respond
from palprep.sandbox.control import CONTROLS, Control, Missing, Offer
from palprep.serving import BodyTooLarge, read_body

MAX_BODY_BYTES = 64 * 1024 * 1024

_FAILURE: Mapping[str, Any] = {
    "description": "What cannot be meant.",
    "content": {
        "application/json": {
            "schema": {"type": "object", "properties": {"error": {"type": "string"}}}
        }
    },
}


def control_routes(control: Control) -> list[Route]:
    """A route for each control of the table, and one for the document that describes them."""

    async def document(_: Request) -> Response:
        return respond(JsonAnswer(body=controls_document()))

    described = Route("/_sandbox/openapi.json", document, methods=["GET"])
    return [described, *(_route(control, offer) for offer in CONTROLS.values())]


def controls_document() -> dict[str, Any]:
    """The OpenAPI 3.1 document of the routes under ``/_sandbox``."""
    paths: dict[str, dict[str, Any]] = {}
    for name, offer in CONTROLS.items():
        operation = _operation(name.strip("_"), offer)
        path = "/_sandbox" + offer.path.replace(":int", "")
        paths.setdefault(path, {})[offer.method.lower()] = operation
    info = {"title": "Controls of the palprep sandbox", "version": __version__}
    return {"openapi": "3.1.0", "info": info, "paths": paths}


def _operation(name: str, offer: Offer[..., Any]) -> dict[str, Any]:
    parts = re.findall(r"{(\w+)(:int)?}", offer.path)
    parameters = [
        {
            "name": part,
            "in": "path",
            "required": True,
            "schema": {"type": "integer" if number else "string"},
        }
        for part, number in parts
    ]
    if offer.streamed is not None:
        seconds = {"type": "number", "description": "The lifetime of its URL, in seconds."}
        parameters.append({"name": "expires_in", "in": "query", "schema": seconds})
    answer = "200" if offer.shown or get_type_hints(offer.act)["return"] is not NoneType else "204"
    operation: dict[str, Any] = {
        "operationId": name,
        "description": inspect.getdoc(offer.act),
        "parameters": parameters,
        "responses": {answer: {"description": "Done."}, "4XX": _FAILURE},
    }
    if (content := _content(offer)) is not None:
        operation["requestBody"] = {"content": content}
    return operation


def _content(offer: Offer[..., Any]) -> dict[str, Any] | None:
    if offer.streamed is not None:
        return {"application/octet-stream": {}}
    if offer.whole is not None:
        return {"application/json": {}}
    if offer.members is None:
        return None
    types = get_type_hints(offer.act)
    members = {
        member: TypeAdapter(types[name]).json_schema() for member, name in offer.members.items()
    }
    return {"application/json": {"schema": {"type": "object", "properties": members}}}


def _route(control: Control, offer: Offer[..., Any]) -> Route:
    async def answer(request: Request) -> Response:
        try:
            result = await offer.act(control, **await _arguments(offer, request))
            body = result if offer.shown is None else await offer.shown(control, result)
            return respond(JsonAnswer(204 if body is None else 200, body))
        except Missing as error:
            return _refused(404, error.message)
        except UsageError as error:
            return _refused(400, error.message)
        except BodyTooLarge as error:
            return _refused(413, error.message)
        except ClientDisconnect:
            return Response(status_code=400)  # no one is there to read it
        except OSError as error:
            return _refused(507, f"The asset cannot be stored: {error.strerror}")

    return Route("/_sandbox" + offer.path, answer, methods=[offer.method])


def _refused(status: int, text: str) -> Response:
    return respond(JsonAnswer(status, {"error": text}))


async def _arguments(offer: Offer[..., Any], request: Request) -> dict[str, Any]:
    """What the request gives to the control, by the control's own names."""
    arguments = dict(request.path_params)
    if offer.streamed is not None:
        return arguments | {offer.streamed: request.stream(), "lifetime_s": _lifetime(request)}
    if offer.whole is not None:
        name, read = offer.whole
        return arguments | {name: read(await _json(request))}
    if offer.members is not None:
        sent = await _json(request, empty={})
        if not isinstance(sent, dict):
            raise UsageError("The body must be a JSON object.")
        arguments |= {name: sent.get(member) for member, name in offer.members.items()}
    return arguments


def _lifetime(request: Request) -> float | None:
    """``expires_in`` of the query, in seconds."""
    text = request.query_params.get("expires_in")
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds):
        raise UsageError("expires_in is a number of seconds.")
    return seconds


async def _json(request: Request, *, empty: Any = None) -> Any:
    body = await read_body(request, MAX_BODY_BYTES)
    if not body and empty is not None:
        return empty
    try:
        return json_value(body)
    except ValueError as error:
        raise UsageError(f"The body is not JSON: {error}.") from error
