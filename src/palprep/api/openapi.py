"""An OpenAPI 3.1 document from the declarations."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from pydantic.json_schema import models_json_schema

from palprep.api.call import Endpoint
from palprep.api.events import EVENTS, AnyEvent, VoiceStatusChanged
from palprep.api.examples import REPLIES, REQUESTS
from palprep.api.wire import Unspecified

_REF = "#/components/schemas/{model}"


def openapi(
    endpoints: Iterable[Endpoint[..., Any]],
    *,
    version: str,
    server: str | None = None,
    success: int = 200,
) -> dict[str, Any]:
    """The document for ``endpoints``; ``success`` is the status where none is specified.

    Endpoints that the specification only mentions, and callbacks whose payload it does not show,
    carry ``x-assumed: true``.
    """
    listed = tuple(endpoints)
    schemas: dict[str, Any] = {"Failure": _FAILURE}
    records = sorted(
        {e.reply for e in listed if not issubclass(e.reply, Unspecified)}, key=lambda r: r.__name__
    )
    _, replies = models_json_schema([(r, "serialization") for r in records], ref_template=_REF)
    schemas.update(replies.get("$defs", {}))
    paths: dict[str, dict[str, Any]] = {}
    schemas |= {event.__name__: _event(event) for event in EVENTS}
    for endpoint in listed:
        operation = _operation(endpoint, schemas, success)
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Conversational Video Agent Management API", "version": version},
        "paths": paths,
        "webhooks": {event.__name__: _webhook(event) for event in EVENTS},
        "components": {
            "schemas": {
                name: _with_example(name, _optional(schema))
                for name, schema in sorted(schemas.items())
            },
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "x-api-key"}},
        },
        "security": [{"key": []}],
    }
    if server:
        document["servers"] = [{"url": server}]
    return document


_FAILURE: dict[str, Any] = {
    "description": "One of the three error shapes.",
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("error", "message", "code")},
    "anyOf": [{"required": ["error"]}, {"required": ["message"]}],
}


def _operation(
    endpoint: Endpoint[..., Any], schemas: dict[str, Any], success: int
) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.name.replace(".", "_"),
        "tags": [endpoint.resource],
        "summary": endpoint.summary,
        "description": endpoint.description,
        "responses": _responses(endpoint, success),
    }
    if parameters := list(_parameters(endpoint)):
        operation["parameters"] = parameters
    body = endpoint.shape.schema(_REF)
    if body is not None:
        name = endpoint.shape.request.__name__
        schemas.update(body.pop("$defs", {}))
        schema = {**body, **endpoint.shape.request.json_schema}
        schemas[name] = schema
        required = endpoint.shape.whole is not None or bool(
            schema.get("required") or schema.get("minProperties")
        )
        operation["requestBody"] = {
            "required": required,
            "content": {"application/json": {"schema": {"$ref": _REF.format(model=name)}}},
        }
    if endpoint.unspecified:
        operation["x-assumed"] = True
    if endpoint.deprecated:
        operation["deprecated"] = True
    return operation


def _parameters(endpoint: Endpoint[..., Any]) -> Iterable[dict[str, Any]]:
    shape = endpoint.shape
    places = [
        *((name, name, "path") for name in shape.in_path),
        *((name, name, "query") for name in shape.in_query),
        *((name, header, "header") for name, header in shape.in_header.items()),
    ]
    for name, shown, place in places:
        yield {
            "name": shown,
            "in": place,
            "required": shape.required(name),
            "schema": shape.single_schema(name),
        }


def _responses(endpoint: Endpoint[..., Any], success: int) -> dict[str, Any]:
    failed = {"application/json": {"schema": {"$ref": _REF.format(model="Failure")}}}
    done: dict[str, Any] = {"description": "Done."}
    if not issubclass(endpoint.reply, Unspecified):
        reference = {"$ref": _REF.format(model=endpoint.reply.__name__)}
        done["content"] = {"application/json": {"schema": reference}}
    stated = {
        str(status): {"description": meaning, "content": failed}
        for status, meaning in sorted(endpoint.failures.items())
    }
    return {
        str(endpoint.status or success): done,
        **stated,
        "4XX": {"description": "Refused.", "content": failed},
    }


def _event(event: type[AnyEvent]) -> dict[str, Any]:
    """What arrives: without the members that palprep's own class adds."""
    schema = event.model_json_schema(mode="validation", ref_template=_REF)
    for added in ("kind", "payload"):
        schema["properties"].pop(added, None)
    schema["required"] = [name for name in schema["required"] if name in schema["properties"]]
    return schema


def _webhook(event: type[AnyEvent]) -> dict[str, Any]:
    """The POST to a callback URL. The specification shows the voice event's payload alone."""
    summary, _, _ = inspect.cleandoc(event.__doc__ or "").partition("\n")
    schema = {"$ref": _REF.format(model=event.__name__)}
    post: dict[str, Any] = {
        "operationId": event.__name__,
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"2XX": {"description": "Taken."}},
        "security": [],
    }
    return {"post": post if event is VoiceStatusChanged else post | {"x-assumed": True}}


def _with_example(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    example = REQUESTS.get(name, REPLIES.get(name))
    return schema if example is None else {**schema, "examples": [example]}


def _optional(schema: dict[str, Any]) -> dict[str, Any]:
    """Members with a default may be absent from a reply, and then have no value at all."""
    properties = schema.get("properties", {})
    absent = {name for name, member in properties.items() if "default" in member}
    if not absent:
        return schema
    slim = {
        name: {k: v for k, v in member.items() if k != "default"}
        for name, member in properties.items()
    }
    required = [name for name in schema.get("required", []) if name not in absent]
    return {**schema, "properties": slim, "required": required}
