"""An example of every body, for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from palprep.sandbox.handlers.faces import validation_result
from palprep.sandbox.seed import KINDS

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


def _kept(kind: str, record_id: str, **sent: Any) -> dict[str, Any]:
    """A record as it is shown that was seeded with these members."""
    seeded = KINDS[kind]
    record = seeded.completed({seeded.id_member: record_id, **sent}, _STAMP)
    shown = seeded.reply.model_fields if seeded.reply else record
    return {name: value for name, value in record.items() if name in shown}


_VOICE = _kept("voices", "v_1a2b3c", voice_name="Ada", tags=["support"])
_KEPT_TOOL = _kept("tools", "t_1a2b3c", **_TOOL)
_RULE = {"text": "Siobhan", "pronunciation": "shi-vawn", "type": "alias"}

REPLIES: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "Voice": _VOICE | {"status": "started"},
        "Voices": {"data": [_VOICE]},
        "Tool": _KEPT_TOOL,
        "Tools": {"data": [_KEPT_TOOL]},
        "FaceValidation": validation_result(
            {"only_one_person_visible": False}, pose_key="pose_suitable_for_face"
        ),
        "Replica": _kept("replicas", "r_1a2b3c", status="started"),
        "Deployment": _kept("deployments", "d_1a2b3c", name="Front desk", status="active"),
        "Document": _kept("documents", "d_1a2b3c", status="processing", progress=50),
        "PronunciationDictionary": _kept(
            "pronunciation_dictionaries", "pd_1a2b3c", name="Names", rules=[_RULE], rules_count=1
        ),
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
