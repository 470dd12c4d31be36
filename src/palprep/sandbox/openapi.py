"""The OpenAPI 3.1 document, derived from the same declarations that are served."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from palprep._version import __version__
from palprep.api.call import Endpoint
from palprep.api.wire import Unspecified
from palprep.sandbox.choices import Choices

Json = dict[str, Any]

REF = "#/components/schemas/{model}"


def _object(*members: str) -> Json:
    return {
        "type": "object",
        "properties": {member: {"type": "string"} for member in members},
        "required": list(members),
        "additionalProperties": False,
    }


ERROR_SHAPES: Mapping[str, Json] = {
    "Error": _object("error"),
    "Message": _object("message"),
    "ImageError": _object("message", "error", "code"),
}


def openapi_document(
    endpoints: Iterable[Endpoint[..., Any]], choices: Choices, *, base_url: str
) -> Json:
    """The whole interface. Operations that the specification mentions and does not show carry
    ``x-assumed: true``; successes whose status or body it does not show say so."""
    schemas: Json = {name: dict(shape) for name, shape in ERROR_SHAPES.items()}
    paths: Json = {}
    for endpoint in endpoints:
        operation = _operation(endpoint, choices, schemas)
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Conversational Video Agent Management API, as the palprep sandbox serves it",
            "version": __version__,
            "description": "What the specification does not show is listed at /_sandbox/choices.",
        },
        "servers": [{"url": base_url}],
        "security": [{"apiKey": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"apiKey": {"type": "apiKey", "in": "header", "name": "x-api-key"}},
            "schemas": schemas,
        },
    }


def _operation(endpoint: Endpoint[..., Any], choices: Choices, schemas: Json) -> Json:
    operation: Json = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "description": endpoint.description,
        "tags": [endpoint.resource],
        "parameters": _parameters(endpoint),
        "responses": _responses(endpoint, choices, schemas),
    }
    if endpoint.assumed:
        operation["x-assumed"] = True
    if endpoint.deprecated:
        operation["deprecated"] = True
    body = endpoint.shape.schema(ref_template=REF)
    if body is not None:
        schema = _hoist(body, schemas)
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    return operation


def _parameters(endpoint: Endpoint[..., Any]) -> list[Json]:
    shape = endpoint.shape
    places = [("path", name, name) for name in shape.in_path]
    places += [("query", name, name) for name in shape.in_query]
    places += [("header", name, header) for name, header in shape.in_header.items()]
    return [
        {
            "in": place,
            "name": wire,
            "required": shape.required(name),
            "schema": shape.single_schema(name),
        }
        for place, name, wire in places
    ]


def _responses(endpoint: Endpoint[..., Any], choices: Choices, schemas: Json) -> Json:
    status = success_status(endpoint, choices)
    success: Json = {"description": "Success."}
    if status != HTTPStatus.NO_CONTENT:
        success["content"] = {"application/json": {"schema": _reply(endpoint, schemas)}}
    if endpoint.reply.__name__ == "Deployment":
        success["headers"] = {"ETag": {"schema": {"type": "string"}}}
    responses = {str(status): success}
    for code, shape in error_shapes(endpoint, choices):
        text = endpoint.failures.get(code) or HTTPStatus(code).phrase
        response = responses.setdefault(
            str(code), {"description": text, "content": {"application/json": {"schema": {}}}}
        )
        content = response["content"]["application/json"]
        content["schema"] = _either(content["schema"], {"$ref": REF.format(model=shape)})
    return responses


def _either(one: Json, other: Json) -> Json:
    if not one or one == other:
        return other
    return {"anyOf": [*one.get("anyOf", [one]), other]}


def success_status(endpoint: Endpoint[..., Any], choices: Choices) -> int:
    """As specified, otherwise as chosen."""
    if endpoint.status is not None:
        return endpoint.status
    if endpoint.name == "tools.create":
        return choices.tool_created_status
    if endpoint.action == "create":
        return choices.created_status
    return choices.deleted_status if endpoint.method == "DELETE" else HTTPStatus.OK


def error_shapes(endpoint: Endpoint[..., Any], choices: Choices) -> list[tuple[int, str]]:
    """Every error status that the sandbox answers at this endpoint, with its shape."""
    shapes = [(choices.invalid_key_status, "Message")]
    takes_body = endpoint.shape.model is not None or endpoint.shape.whole is not None
    if endpoint.action == "validate_image":
        return [*shapes, *((status, "ImageError") for status in (400, 413, 422))]
    if takes_body:
        shapes += [(choices.bad_request_status, "Error"), (choices.body_too_large_status, "Error")]
    shapes += [(status, "Error") for status in endpoint.failures]
    if endpoint.shape.in_path:
        messages = {"documents", "pronunciation_dictionaries"}
        shape = "Message" if endpoint.resource in messages else "Error"
        invalid = endpoint.resource in {"pals", "videos"}
        status = choices.invalid_id_status if invalid else choices.not_found_status
        shapes.append((status, shape))
    extra = {
        "voices.create": choices.unscoped_key_status,
        "tools.create": choices.name_taken_status,
        "tools.delete": choices.system_tool_status,
        "deployments.patch": choices.etag_mismatch_status,
    }
    if endpoint.name in extra:
        shapes.append((extra[endpoint.name], "Error"))
    return shapes


def _reply(endpoint: Endpoint[..., Any], schemas: Json) -> Json:
    if issubclass(endpoint.reply, Unspecified):
        return {"type": "object", "description": "The specification does not show this body."}
    schema = endpoint.reply.model_json_schema(ref_template=REF, mode="serialization", by_alias=True)
    return _hoist(schema, schemas)


def _hoist(schema: Json, schemas: Json) -> Json:
    """Move the schema's definitions to the components; a titled object becomes one itself."""
    schemas.update(schema.pop("$defs", {}))
    title = schema.get("title", "")
    if schema.get("type") != "object" or not re.fullmatch(r"\w+", title):
        return schema
    schemas[title] = schema
    return {"$ref": REF.format(model=title)}
