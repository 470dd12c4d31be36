"""The OpenAPI 3.1 document of what this sandbox serves: the declarations, and its choices.

The declarations know what the specification states; which status and which of the three
error shapes each refusal has here is the sandbox's own to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from palprep._version import __version__
from palprep.api import Deployment, Endpoint, Unspecified, openapi
from palprep.sandbox.choices import IMAGE_ERRORS, Choices

Json = dict[str, Any]


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
    ``x-assumed: true``."""
    listed = tuple(endpoints)
    document = openapi(listed, version=__version__, server=base_url)
    document["info"]["description"] = (
        "As the palprep sandbox serves it. What the specification does not show is listed by "
        "GET /_sandbox/choices."
    )
    schemas = document["components"]["schemas"]
    schemas |= ERROR_SHAPES
    schemas["CreateVoice"]["required"] = list(choices.required_voice_fields)
    # Not as anyOf: generators of clients then lose sight of the members.
    schemas["CreateReplica"] |= {
        "if": {"not": {"required": ["train_image_url"]}},
        "then": {"required": ["train_video_url"]},
    }
    for endpoint in listed:
        operation = document["paths"][endpoint.path][endpoint.method.lower()]
        operation["responses"] = _responses(endpoint, choices)
        if endpoint.action == "create" and "requestBody" in operation:
            operation["requestBody"]["required"] = True
    return document


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
    if endpoint.shape.model is not None or endpoint.shape.whole is not None:
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
