"""Conversations: who may start one, how it ends, and what runs after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from palprep.api.events import TOOL_CALL
from palprep.errors import UsageError
from palprep.sandbox.service import Service
from palprep.sandbox.store import Record
from palprep.sandbox.tool_calls import deliver


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
    for tool in _tools_of(service, conversation.get("pal_id"), "post_call"):
        given = (arguments or {}).get(tool["name"], {})
        job = {"tool_id": tool["tool_id"], "arguments": given}
        service.store.schedule(service.now(), "tool", job)
    return conversation


async def call_tool(
    service: Service, conversation_id: str, name: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Have an in-call tool invoked, as the LLM of a conversation would; see the choice
    ``in-call-tools``.

    Raises :class:`UsageError` unless the conversation is active and its PAL has the tool.
    """
    conversation = service.store.get("conversation", conversation_id)
    if conversation is None or conversation["status"] != "active":
        raise UsageError(f"There is no active conversation {conversation_id}.")
    tools = _tools_of(service, conversation.get("pal_id"), "in_call")
    tool = next((tool for tool in tools if tool["name"] == name), None)
    if tool is None:
        known = ", ".join(tool["name"] for tool in tools)
        raise UsageError(f"The conversation has no in-call tool {name}; it has {known}.")
    if tool["delivery"].get("api") is None:
        payload = {"conversation_id": conversation_id, "name": name, "arguments": dict(arguments)}
        url = conversation["conversation_url"]
        service.outbox.record(TOOL_CALL, url, payload, attempt=1, status=None, problem=None)
        return {"event": TOOL_CALL, "payload": payload}
    return asdict(await deliver(service, tool, arguments))


def _tools_of(service: Service, pal_id: str | None, trigger_type: str) -> list[Record]:
    pal = service.store.get("pal", pal_id) if pal_id else None
    attached = pal.get("tool_ids") if pal else None
    return [
        tool
        for tool in service.store.all("tool")
        if tool.get("trigger_type") == trigger_type
        and (attached is None or tool["tool_id"] in attached)
    ]


async def conversation_timed_out(service: Service, job: Record) -> None:
    """End a conversation that has reached its longest time."""
    with service.store.transaction():
        end_conversation(service, job["conversation_id"])
