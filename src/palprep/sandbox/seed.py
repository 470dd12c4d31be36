"""Records put into the sandbox from outside: a fixture file's content or an admin request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palprep.errors import UsageError
from palprep.sandbox.documents import begin_walk
from palprep.sandbox.service import Service
from palprep.sandbox.store import Record, Taken

# The name of each kind in a seed, and the member that holds a record's own id.
KINDS: Mapping[str, tuple[str, str]] = {
    "pals": ("pal", "pal_id"),
    "documents": ("document", "document_id"),
    "pronunciation_dictionaries": ("dictionary", "pronunciation_dictionary_id"),
    "deployments": ("deployment", "deployment_id"),
    "videos": ("video", "video_id"),
    "connectors": ("connector", "connector_id"),
    "voices": ("voice", "voice_id"),
    "faces": ("face", "face_id"),
    "tools": ("tool", "tool_id"),
    "replicas": ("replica", "replica_id"),
}

END_CALL: Record = {
    "tool_id": "end_call",
    "owner_id": None,
    "name": "end_call",
    "description": "End the call when the participant says goodbye.",
    "parameters": {"type": "object", "properties": {}, "required": []},
    "delivery": {"app_message": True},
    "is_system_tool": True,
    "trigger_type": "in_call",
    "origin": "llm",
    "on_call": "silent",
    "on_resolve": "fire_and_forget",
    "static_filler": None,
}


def seed_system_tool(service: Service) -> None:
    """The one built-in tool; see the choice ``system-tool``."""
    if service.store.get("tool", "end_call") is None:
        now = service.stamp()
        service.store.put("tool", "end_call", END_CALL | {"created_at": now, "updated_at": now})


def seed(service: Service, content: Any) -> dict[str, int]:
    """Store each record as given, under its own id; how many of each kind.

    Raises :class:`UsageError` for an unknown kind or a record without its id; then nothing
    is stored.
    """
    if not isinstance(content, Mapping):
        raise UsageError(f"A seed is an object with members of {', '.join(KINDS)}.")
    with service.store.transaction():
        return {name: _seed_kind(service, name, records) for name, records in content.items()}


def _seed_kind(service: Service, name: str, records: Any) -> int:
    if name not in KINDS:
        raise UsageError(f"Unknown kind {name!r} in the seed; known are {', '.join(KINDS)}.")
    kind, id_member = KINDS[name]
    if not isinstance(records, list):
        raise UsageError(f"{name} in the seed must be an array of records.")
    for number, record in enumerate(records):
        if not isinstance(record, dict) or not isinstance(record.get(id_member), str):
            raise UsageError(f"{name}[{number}] in the seed has no {id_member}.")
        try:
            service.store.put(kind, record[id_member], record)
        except Taken:
            raise UsageError(
                f"{name}[{number}] in the seed: there is another tool called {record['name']}."
            ) from None
        if kind == "document":
            begin_walk(service, record)
    return len(records)
