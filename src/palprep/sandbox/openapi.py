"""The OpenAPI 3.1 document of what this sandbox serves: the declarations, and its choices.

The declarations know what the specification states; which status and which of the three
error shapes each refusal has here is the sandbox's own to say.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from http.client import responses as PHRASES  # noqa: N812
from typing import Any, Final

from pydantic.json_schema import models_json_schema

from palprep._version import __version__
from palprep.api import (
    EVENTS,
    FACE_CHECKS,
    AnyEvent,
    Endpoint,
    ReplicaTraining,
    Unspecified,
    VoiceStatusChanged,
    calls,
)
from palprep.api.calls import ENDPOINTS
from palprep.sandbox.choices import IMAGE_ERRORS, Choices
from palprep.sandbox.dispatch import success_status
from palprep.sandbox.handlers.likenesses import validation_result
from palprep.sandbox.seed import KINDS, NULLABLE
from palprep.sandbox.service import refuse_unknown

Json = dict[str, Any]

_REF = "#/components/schemas/{model}"


def _shape(example: Mapping[str, str]) -> Json:
    return {
        "type": "object",
        "properties": {member: {"type": "string"} for member in example},
        "required": list(example),
        "additionalProperties": False,
        "examples": [example],
    }


ERROR_SHAPES: dict[str, Json] = {
    "Error": _shape({"error": 'Bad Request. {"voice_name": "is required"}'}),
    "Message": _shape({"message": "Invalid access token."}),
    "ImageError": _shape(IMAGE_ERRORS[0].answer().body),
}
TOLD: Final[Mapping[str, type[AnyEvent]]] = {
    "CreateVoice": VoiceStatusChanged,
    "CreateReplica": ReplicaTraining,
}
"""What is posted to the callback_url of a request, by the name of its class."""


def openapi_document(choices: Choices, *, base_url: str) -> Json:
    """The whole interface, with an example of every body. Operations that the specification
    mentions and does not show, and callbacks whose payload it does not show, carry ``x-assumed:
    true``."""
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
    shown = {name: _as_served(name, schema) for name, schema in sorted(schemas.items())}
    for name, example in {**REQUESTS, **REPLIES}.items():
        shown[name]["examples"] = [example]
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
        if name in TOLD:
            post = _webhook(TOLD[name])["post"]
            del post["operationId"]  # It is that of the webhook.
            operation["callbacks"] = {"ended": {"{$request.body#/callback_url}": {"post": post}}}
    if endpoint.unspecified:
        operation["x-assumed"] = True
    if endpoint.deprecated:
        operation["deprecated"] = True
    return operation


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
        "requestBody": {"required": True} | _json(schema),
        "responses": {"2XX": {"description": "Taken."}},
        "security": [],
    }
    return {"post": post if event is VoiceStatusChanged else post | {"x-assumed": True}}


def _as_served(name: str, schema: Json) -> Json:
    """What the sandbox shows of a record: every member that its example has, none of them null
    unless the specification says so. Of other objects, members with a default may be absent."""
    properties = {}
    for member, each in schema.get("properties", {}).items():
        arms = [arm for arm in each.get("anyOf", ()) if arm != {"type": "null"}]
        answered = name in REPLIES or name in {"CrawlConfig", "PronunciationRule"}
        if answered and f"{name}.{member}" not in NULLABLE and len(arms) == 1:
            each = {k: v for k, v in each.items() if k != "anyOf"} | arms[0]  # noqa: PLW2901
        properties[member] = {k: v for k, v in each.items() if k != "default"}
    absent = {m for m, each in schema.get("properties", {}).items() if "default" in each}
    always = REPLIES.get(name, {}).keys() - {"error_message"}
    required = [m for m in properties if m in always or m in {*schema.get("required", ())} - absent]
    return schema | ({"properties": properties, "required": required} if properties else {})


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
        text = endpoint.failures.get(code) or PHRASES.get(code, "Refused")
        media = _json({"anyOf": [{"$ref": _REF.format(model=shape)} for shape in named]})
        if code != choices.bad_request_status:  # Whose example in the shape names a field.
            variants = (each.answer().body for each in IMAGE_ERRORS if each.status == code)
            media["content"]["application/json"]["examples"] = {
                shape: {"value": next(variants) if shape == "ImageError" else {shape.lower(): text}}
                for shape in named
            }
        responses[str(code)] = {"description": text} | media
    for answered, response in responses.items():
        headers = {"x-request-id": "The request's seq in GET /_sandbox/log."}
        if answered == str(HTTPStatus.TOO_MANY_REQUESTS.value):
            headers["Retry-After"] = "Seconds to wait."
        if answered == str(success) and endpoint.reply is calls.get_deployment.reply:
            headers["ETag"] = "What If-Match takes."
        response["headers"] = {
            name: {"description": said, "schema": {"type": "string"}}
            for name, said in headers.items()
        }
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


_STAMP = "2026-08-01T12:00:00.000000"

_TOOL: dict[str, Any] = {
    "name": "look_up_order",
    "description": "Looks up an order by its number.",
    "parameters": {
        "type": "object",
        "properties": {"order": {"type": "string"}},
        "required": ["order"],
    },
    "delivery": {
        "app_message": False,
        "api": {"url": "https://shop.example/orders/{order}", "method": "POST", "timeout": 5},
    },
}
REQUESTS: Final[Mapping[str, Any]] = {
    "CreateTool": _TOOL,
    "ValidateFaceImage": {"imageBase64": "/9j/4AAQSkZJRg==", "mimeType": "image/jpeg"},
    "ValidateReplicaImage": {"imageBase64": "/9j/4AAQSkZJRg==", "mimeType": "image/jpeg"},
    "CreateVoice": {
        "voice_name": "Ada",
        "training_audio_url": "https://media.example/ada.wav",
        "callback_url": "https://app.example/callbacks",
        "tags": ["support"],
    },
    "UpdateVoice": {"voice_name": "Ada L.", "description": None},
    "ReplaceSkills": {
        "skills": {
            "internet_search": {},
            "presentation": {"config": {"document_ids": ["d_1a2b3c"]}},
        }
    },
    "PatchDeployment": [{"op": "replace", "path": "/name", "value": "Front desk"}],
    "RenameVideo": {"video_name": "Welcome"},
    "CreateReplica": {
        "replica_name": "Ada",
        "train_video_url": "https://media.example/training.mp4?signature=abc",
        "consent_video_url": "https://media.example/consent.mp4?signature=abc",
        "callback_url": "https://app.example/callbacks",
    },
    "CreateConversation": {"pal_id": "p_1a2b3c", "conversation_name": "Monday"},
}
"""By the name of the request's class."""


def _kept(kind: str, record_id: str, **sent: Any) -> dict[str, Any]:
    """A record as it is shown that was seeded with these members."""
    seeded = KINDS[kind]
    record = seeded.completed({seeded.id_member: record_id, **sent}, _STAMP)
    shown = seeded.reply.model_fields if seeded.reply else record
    return {name: value for name, value in record.items() if name in shown}


_VOICE = _kept("voices", "v_1a2b3c", voice_name="Ada", tags=["support"])
_KEPT_TOOL = _kept("tools", "t_1a2b3c", **_TOOL)
_RULE = {"text": "Siobhan", "pronunciation": "shi-vawn", "type": "alias"}

REPLIES: Final[Mapping[str, Any]] = {
    "Voice": _VOICE | {"status": "started"},
    "Voices": {"data": [_VOICE]},
    "Tool": _KEPT_TOOL,
    "Tools": {"data": [_KEPT_TOOL]},
    "FaceValidation": validation_result({"only_one_person_visible": False}, "pose"),
    "Replica": _kept("replicas", "r_1a2b3c", status="started"),
    "Deployment": _kept("deployments", "d_1a2b3c", name="Front desk", status="active"),
    "Document": _kept("documents", "d_1a2b3c", status="processing", progress=50),
    "PronunciationDictionary": _kept(
        "pronunciation_dictionaries", "pd_1a2b3c", name="Names", rules=[_RULE], rules_count=1
    ),
    "ImageCheck": {"id": "no_nudity", "label": FACE_CHECKS["no_nudity"], "passed": True},
    "ConnectorError": {"http_status": 424, "message": "The server cannot be reached."},
    "ConnectorCheck": {
        "ok": True,
        "tool_count": 1,
        "tool_names": ["look_up_order"],
        "latency_ms": 182,
        "error": None,
    },
    "PalSkills": {"data": {"internet_search": {"config": {}}}},
    "VoiceStatusChanged": {"voice_id": "v_1a2b3c", "voice_name": "Ada", "status": "completed"},
    "ReplicaTraining": {
        "replica_id": "r_1a2b3c",
        "status": "error",
        "error_message": "The statement of consent was not heard.",
    },
    "DocumentChanged": {"document_id": "d_1a2b3c", "status": "processing", "progress": 50},
}
"""By the name of the record's class, or the event's."""
