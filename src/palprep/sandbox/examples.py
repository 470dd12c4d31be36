"""An example of every body, for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

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
