"""The OpenAPI 3.1 document of what this sandbox serves: the declarations, and its choices.

The declarations know what the specification states; which status and which of the three
error shapes each refusal has here is the sandbox's own to say.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from pydantic.json_schema import models_json_schema

from palprep._version import __version__
from palprep.api import EVENTS, AnyEvent, Deployment, Endpoint, Unspecified, VoiceStatusChanged
from palprep.api.calls import ENDPOINTS
from palprep.sandbox.choices import IMAGE_ERRORS, Choices
from palprep.sandbox.examples import REPLIES, REQUESTS

Json = dict[str, Any]

_REF = "#/components/schemas/{model}"


def _object(*members: str) -> Json:
    return {
        "type": "object",
        "properties": {member: {"type": "string"} for member in members},
        "required": list(members),
        "additionalProperties": False,
    }


ERROR_SHAPES: dict[str, Json] = {
    "Error": _object("error"),
    "Message": _object("message"),
    "ImageError": _object("message", "error", "code"),
}


def openapi_document(choices: Choices, *, base_url: str) -> Json:
    """The whole interface, with an example of every body.

    Operations that the specification mentions and does not show, and callbacks whose payload it
    does not show, carry ``x-assumed: true``.
    """
    schemas: Json = {}
    records = sorted(
        {e.reply for e in ENDPOINTS if e.reply is not Unspecified}, key=lambda r: r.__name__
    )
    _, replies = models_json_schema([(r, "serialization") for r in records], ref_template=_REF)
    schemas |= replies["$defs"] | {event.__name__: _event(event) for event in EVENTS}
    paths: dict[str, Json] = {}
    for endpoint in ENDPOINTS:
        operation = _operation(endpoint, choices, schemas)
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    schemas["CreateVoice"]["required"] = list(choices.required_voice_fields)
    # Not as anyOf: generators of clients then lose sight of the members.
    schemas["CreateReplica"] |= {
        "if": {"not": {"required": ["train_image_url"]}},
        "then": {"required": ["train_video_url"]},
    }
    shown = {name: _with_example(name, _optional(each)) for name, each in sorted(schemas.items())}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Conversational Video Agent Management API",
            "version": __version__,
            "description": "As the palprep sandbox serves it. What the specification does not "
            "show is listed by GET /_sandbox/choices.",
        },
        "servers": [{"url": base_url}],
        "paths": paths,
        "webhooks": {event.__name__: _webhook(event) for event in EVENTS},
        "components": {
            "schemas": shown | ERROR_SHAPES,
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "x-api-key"}},
        },
        "security": [{"key": []}],
    }


def _operation(endpoint: Endpoint[..., Any], choices: Choices, schemas: Json) -> Json:
    operation: Json = {
        "operationId": endpoint.name.replace(".", "_"),
        "tags": [endpoint.resource],
        "summary": endpoint.summary,
        "description": endpoint.description,
        "responses": _responses(endpoint, choices),
    }
    if parameters := list(_parameters(endpoint)):
        operation["parameters"] = parameters
    body = endpoint.shape.schema(_REF)
    if body is not None:
        name = endpoint.shape.request.__name__
        schemas.update(body.pop("$defs", {}))
        schema = {**body, **endpoint.shape.request.json_schema}
        schemas[name] = schema
        required = (
            endpoint.shape.whole is not None
            or endpoint.action == "create"
            or bool(schema.get("required") or schema.get("minProperties"))
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


def _parameters(endpoint: Endpoint[..., Any]) -> Iterable[Json]:
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


def _event(event: type[AnyEvent]) -> Json:
    """What arrives: without the members that palprep's own class adds."""
    schema = event.model_json_schema(mode="validation", ref_template=_REF)
    for added in ("kind", "payload"):
        schema["properties"].pop(added, None)
    schema["required"] = [name for name in schema["required"] if name in schema["properties"]]
    return schema


def _webhook(event: type[AnyEvent]) -> Json:
    """The POST to a callback URL. The specification shows the voice event's payload alone."""
    summary, _, _ = inspect.cleandoc(event.__doc__ or "").partition("\n")
    schema = {"$ref": _REF.format(model=event.__name__)}
    post: Json = {
        "operationId": event.__name__,
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"2XX": {"description": "Taken."}},
        "security": [],
    }
    return {"post": post if event is VoiceStatusChanged else post | {"x-assumed": True}}


def _with_example(name: str, schema: Json) -> Json:
    example = REQUESTS.get(name, REPLIES.get(name))
    return schema if example is None else {**schema, "examples": [example]}


def _optional(schema: Json) -> Json:
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


def _responses(endpoint: Endpoint[..., Any], choices: Choices) -> Json:
    status = success_status(endpoint, choices)
    responses: Json = {str(status): _success(endpoint, status)}
    for code, shape in error_shapes(endpoint, choices):
        text = endpoint.failures.get(code) or HTTPStatus(code).phrase
        known = responses.setdefault(str(code), {"description": text})
        schemas = known.get("content", _json({"anyOf": []}))["application/json"]["schema"]["anyOf"]
        reference = {"$ref": f"#/components/schemas/{shape}"}
        known["content"] = _json({"anyOf": [*(s for s in schemas if s != reference), reference]})
    for answered, response in responses.items():
        response["headers"] = _headers(endpoint, answered, success=answered == str(status))
    return responses


def _headers(endpoint: Endpoint[..., Any], code: str, *, success: bool) -> Json:
    headers = {"x-request-id": "The request's seq in GET /_sandbox/log."}
    if code == str(HTTPStatus.TOO_MANY_REQUESTS.value):
        headers["Retry-After"] = "Seconds to wait."
    if success and endpoint.reply is Deployment:
        headers["ETag"] = "What If-Match takes."
    return {
        name: {"description": text, "schema": {"type": "string"}} for name, text in headers.items()
    }


def _success(endpoint: Endpoint[..., Any], status: int) -> Json:
    success: Json = {"description": "Done."}
    if status == HTTPStatus.NO_CONTENT:
        return success
    if issubclass(endpoint.reply, Unspecified):
        shown: Json = {"type": "object", "description": "The specification does not show it."}
    else:
        shown = {"$ref": f"#/components/schemas/{endpoint.reply.__name__}"}
    return success | {"content": _json(shown)}


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def success_status(endpoint: Endpoint[..., Any], choices: Choices) -> int:
    """As specified, otherwise as chosen."""
    if endpoint.status is not None:
        return endpoint.status
    if endpoint.name == "tools.create":
        return choices.tool_created_status
    if endpoint.action == "create":
        return choices.created_status
    return choices.deleted_status if endpoint.method == "DELETE" else HTTPStatus.OK


def error_shapes(endpoint: Endpoint[..., Any], choices: Choices) -> Iterable[tuple[int, str]]:
    """Every error status that the sandbox answers at this endpoint, with its shape."""
    yield choices.invalid_key_status, "Message"
    if endpoint.action == "validate_image":
        yield from ((error.status, "ImageError") for error in IMAGE_ERRORS)
        return
    if endpoint.shape.takes_body:
        yield choices.bad_request_status, "Error"
        yield choices.body_too_large_status, "Error"
    yield from ((status, "Error") for status in endpoint.failures)
    if endpoint.shape.in_path:
        messages = {"documents", "pronunciation_dictionaries"}
        invalid = endpoint.resource in {"pals", "videos"}
        status = choices.invalid_id_status if invalid else choices.not_found_status
        yield status, "Message" if endpoint.resource in messages else "Error"
    extra = {
        "voices.create": choices.unscoped_key_status,
        "tools.create": choices.name_taken_status,
        "tools.delete": choices.system_tool_status,
        "deployments.patch": choices.etag_mismatch_status,
    }
    if endpoint.name in extra:
        yield extra[endpoint.name], "Error"
