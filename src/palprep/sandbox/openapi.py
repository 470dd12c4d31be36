"""The OpenAPI 3.1 document of this sandbox, from the declared endpoints and the sandbox's choices.

The specification leaves open the status of a refusal, and which of the three error shapes it has.
"""

from __future__ import annotations

import http.client
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from pydantic.json_schema import models_json_schema

from palprep._version import __version__
from palprep.api import Endpoint, Unspecified
from palprep.api.calls import ENDPOINTS
from palprep.sandbox.choices import IMAGE_ERRORS, Choices
from palprep.sandbox.dispatch import success_status
from palprep.sandbox.seed import NULLABLE
from palprep.sandbox.service import refuse_unknown

Json = dict[str, Any]
_REF = "#/components/schemas/{model}"


def _shape(*members: str) -> Json:
    return {
        "type": "object",
        "properties": {member: {"type": "string"} for member in members},
        "required": list(members),
        "additionalProperties": False,
    }


ERROR_SHAPES: dict[str, Json] = {
    "Error": _shape("error"),
    "Message": _shape("message"),
    "ImageError": _shape("message", "error", "code"),
}
OPTIONAL = frozenset(
    {"error_message", "callback_url", "depth", "max_pages"}
    | {"crawl_config", "crawled_urls", "last_crawled_at", "crawl_count"}
    | {"pronunciation", "type", "case_sensitive", "word_boundaries"}
)
"""Members that a record may lack as the sandbox shows it."""


def openapi_document(choices: Choices, *, base_url: str) -> Json:
    """The whole interface. What the specification does not show carries ``x-assumed: true``."""
    records = sorted(
        {e.reply for e in ENDPOINTS if e.reply is not Unspecified}, key=lambda r: r.__name__
    )
    _, replies = models_json_schema([(r, "serialization") for r in records], ref_template=_REF)
    schemas = {name: _as_served(name, schema) for name, schema in replies["$defs"].items()}
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
        "components": {
            "schemas": dict(sorted(schemas.items())) | ERROR_SHAPES,
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "x-api-key"}},
        },
        "security": [{"key": []}],
    }


def _operation(endpoint: Endpoint[..., Any], choices: Choices, schemas: Json) -> Json:
    operation: Json = {
        "operationId": endpoint.name.replace(".", "_"),
        "tags": [endpoint.resource],
        "summary": endpoint.description.partition("\n")[0],
        "description": endpoint.description,
        "responses": _responses(endpoint, choices),
    }
    if parameters := endpoint.shape.parameters():
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
        content = _json({"$ref": _REF.format(model=name)})
        operation["requestBody"] = {"required": required} | content
    if endpoint.unspecified:
        operation["x-assumed"] = True
    if endpoint.deprecated:
        operation["deprecated"] = True
    return operation


def _as_served(name: str, schema: Json) -> Json:
    """The schema of a record as the sandbox shows it: only the members are null that the
    specification lets be null."""
    if not schema.get("additionalProperties"):
        return schema  # An object inside it, as it is sent.
    properties = {}
    for member, declared in schema["properties"].items():
        shown = {k: v for k, v in declared.items() if k != "default"}
        arms = [arm for arm in shown.get("anyOf", ()) if arm != {"type": "null"}]
        if len(arms) == 1 and f"{name}.{member}" not in NULLABLE:
            del shown["anyOf"]
            shown |= arms[0]
        properties[member] = shown
    required = [each for each in properties if each not in OPTIONAL]
    return schema | {"properties": properties, "required": required}


def _responses(endpoint: Endpoint[..., Any], choices: Choices) -> Json:
    success = success_status(endpoint, choices)
    responses: Json = {str(success): {"description": "Done."}}
    if issubclass(endpoint.reply, Unspecified):
        shown: Json = {"type": "object", "description": "The specification does not show it."}
    else:
        shown = {"$ref": _REF.format(model=endpoint.reply.__name__)}
    if success != HTTPStatus.NO_CONTENT:
        responses[str(success)] |= _json(shown)
    shapes: dict[int, list[str]] = {}
    for code, shape in dict.fromkeys(error_shapes(endpoint, choices)):
        shapes.setdefault(code, []).append(shape)
    for code, named in shapes.items():
        text = endpoint.failures.get(code) or http.client.responses.get(code, "Refused")
        media = _json({"anyOf": [{"$ref": _REF.format(model=shape)} for shape in named]})
        responses[str(code)] = {"description": text} | media
    return responses


def _json(schema: Json) -> Json:
    return {"content": {"application/json": {"schema": schema}}}


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
    for name in endpoint.shape.in_path:
        unknown = refuse_unknown(choices, name.removesuffix("_id")).answer
        yield unknown.status, "Message" if "message" in unknown.body else "Error"
    extra = {
        "voices.create": choices.unscoped_key_status,
        "tools.create": choices.name_taken_status,
        "tools.delete": choices.system_tool_status,
        "deployments.patch": choices.etag_mismatch_status,
    }
    if endpoint.name in extra:
        yield extra[endpoint.name], "Error"
