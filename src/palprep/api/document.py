"""An OpenAPI 3.1 document from the declarations, with an example of every body."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from pydantic.json_schema import models_json_schema

from palprep.api.call import Endpoint
from palprep.api.events import EVENTS, AnyEvent, VoiceStatusChanged
from palprep.api.reply import Unspecified

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
_VOICE: dict[str, Any] = {
    "voice_id": "v_1a2b3c",
    "voice_name": "Ada",
    "description": "Calm, for support calls.",
    "voice_type": "user",
    "status": "started",
    "tags": ["support"],
    "created_at": _STAMP,
}

REQUESTS: Final[Mapping[str, Any]] = MappingProxyType(
    {
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
)
"""By the name of the request's class."""

REPLIES: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "Voice": _VOICE,
        "Voices": {"data": [{**_VOICE, "status": "completed"}]},
        "Tool": {
            "tool_id": "t_1a2b3c",
            "owner_id": 1,
            **_TOOL,
            "is_system_tool": False,
            "trigger_type": "in_call",
            "origin": "llm",
            "on_call": "generate_filler",
            "on_resolve": "generate_response",
            "static_filler": None,
            "created_at": _STAMP,
            "updated_at": _STAMP,
        },
        "Tools": {"data": [{"tool_id": "t_1a2b3c", **_TOOL}]},
        "FaceValidation": {
            "passed": False,
            "message": "The image fails one check.",
            "checks": [
                {"id": "only_one_person_visible", "label": "Only one person", "passed": False}
            ],
            "details": {"only_one_person_visible": False, "issues": ["Two people are visible."]},
        },
        "Replica": {"replica_id": "r_1a2b3c", "status": "started"},
        "Deployment": {
            "deployment_id": "d_1a2b3c",
            "pal_id": "p_1a2b3c",
            "channel": "widget",
            "status": "active",
            "name": "Front desk",
            "has_password": False,
            "allowed_origins": ["https://shop.example"],
            "usage_total": 120,
            "usage_today": 3,
        },
        "Document": {
            "document_id": "d_1a2b3c",
            "document_name": "Handbook",
            "document_url": "https://docs.example/handbook.pdf",
            "status": "processing",
            "progress": 50,
            "tags": [],
            "created_at": _STAMP,
            "updated_at": _STAMP,
        },
        "PronunciationDictionary": {
            "pronunciation_dictionary_id": "pd_1a2b3c",
            "name": "Names",
            "rules": [
                {"text": "Siobhan", "pronunciation": "shi-vawn", "type": "alias"},
            ],
            "rules_count": 1,
        },
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
)
"""By the name of the record's class, or the event's."""
