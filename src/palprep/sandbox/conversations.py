"""Conversations: who may start one, how it ends, and what runs after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palprep.sandbox.service import Service
from palprep.sandbox.store import Record


def voice_problem(service: Service, voice_id: str | None) -> str | None:
    """Why a conversation cannot speak with this voice; None when it can."""
    if voice_id is None:
        return None
    voice = service.store.get("voice", voice_id)
    if voice is None:
        return f"The voice {voice_id} does not exist."
    if voice.get("status") != "completed":
        return f"The voice {voice_id} is not ready: its status is {voice.get('status')}."
    return None


def end_conversation(
    service: Service, conversation_id: str, arguments: Mapping[str, Any] | None = None
) -> Record | None:
    """Mark an active conversation as ended and schedule its post-call tools, each once.

    ``arguments`` by tool name. None when there is no such active conversation.
    """
    conversation = service.store.get("conversation", conversation_id)
    if conversation is None or conversation["status"] != "active":
        return None
    conversation["status"] = "ended"
    service.store.put("conversation", conversation_id, conversation)
    for tool in _post_call_tools(service, conversation.get("pal_id")):
        given = (arguments or {}).get(tool["name"], {})
        job = {"tool_id": tool["tool_id"], "arguments": given}
        service.store.schedule(service.now(), "tool", job)
    return conversation


def _post_call_tools(service: Service, pal_id: str | None) -> list[Record]:
    pal = service.store.get("pal", pal_id) if pal_id else None
    attached = pal.get("tool_ids") if pal else None
    return [
        tool
        for tool in service.store.all("tool")
        if tool.get("trigger_type") == "post_call"
        and (attached is None or tool["tool_id"] in attached)
    ]


async def conversation_timed_out(service: Service, job: Record) -> None:
    """End a conversation that has reached its longest time."""
    with service.store.transaction():
        end_conversation(service, job["conversation_id"])
