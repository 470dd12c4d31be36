"""PALs and their conversations: who may start one, how it ends, and which tools run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from palprep.api import EventName
from palprep.errors import UsageError
from palprep.sandbox.answers import bad_fields, refuse_error
from palprep.sandbox.handlers.tools import deliver
from palprep.sandbox.outbound import note_delivery
from palprep.sandbox.service import HandlerContext, Service
from palprep.sandbox.store import Record


def create_conversation(context: HandlerContext) -> Record:
    """Start a conversation whose voice and face are ready, and schedule its end."""
    service, choices, sent = context.service, context.service.choices, context.sent
    pal, face = _pal(service, sent.get("pal_id")), _face(service, sent.get("face_id"))
    if pal is None and face is None:
        raise bad_fields(
            choices.bad_request_status, {"pal_id": "One of pal_id and face_id is required."}
        )
    for voice_id in (_pal_voice(pal or {}), (face or {}).get("default_voice_id")):
        problem = voice_problem(service, voice_id)
        if problem is not None:
            raise refuse_error(choices.bad_request_status, problem)
    conversation_id = service.recorder.new_id("c")
    record: Record = dict.fromkeys(("conversation_name", "pal_id", "face_id")) | {
        **sent,
        "conversation_id": conversation_id,
        "conversation_url": f"{service.base_url}/conversations/{conversation_id}",
        "status": "active",
        "created_at": service.stamp(),
    }
    service.store.create("conversation", conversation_id, record)
    due = service.now() + choices.conversation_seconds
    service.store.schedule(due, "conversation", {"conversation_id": conversation_id})
    return record


def _pal(service: Service, pal_id: str | None) -> Record | None:
    pal = service.store.get("pal", pal_id) if pal_id else None
    if pal_id and pal is None:
        raise refuse_error(service.choices.invalid_id_status, "Invalid pal_id.")
    return pal


def _pal_voice(pal: Record) -> str | None:
    layers = pal.get("layers") or {}
    return (layers.get("tts") or {}).get("voice_id")


def _face(service: Service, face_id: str | None) -> Record | None:
    if not face_id:
        return None
    face = service.store.get("face", face_id)
    replica = service.store.get("replica", face_id)
    if face is None and replica is None:
        raise refuse_error(service.choices.invalid_id_status, "Invalid face_id.")
    if replica is not None and replica["status"] != "completed":
        raise refuse_error(
            service.choices.bad_request_status,
            f"The face {face_id} is not ready: its status is {replica['status']}.",
        )
    return face or replica


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
    conversation = _active(service, conversation_id)
    if conversation is None:
        return None
    conversation["status"] = "ended"
    service.store.put("conversation", conversation_id, conversation)
    for tool in _tools_of(service, conversation.get("pal_id"), "post_call"):
        own = (arguments or {}).get(tool["name"], {})
        job = {"tool_id": tool["tool_id"], "arguments": own}
        service.store.schedule(service.now(), "tool", job)
    return conversation


async def call_tool(
    service: Service, conversation_id: str, name: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Have an in-call tool invoked, as the LLM of a conversation would; see the choice
    ``in-call-tools``.

    Raises :class:`UsageError` unless the conversation is active and its PAL has the tool.
    """
    conversation = _active(service, conversation_id)
    if conversation is None:
        raise UsageError(f"There is no active conversation {conversation_id}.")
    tools = _tools_of(service, conversation.get("pal_id"), "in_call")
    tool = next((tool for tool in tools if tool["name"] == name), None)
    if tool is None:
        known = ", ".join(tool["name"] for tool in tools)
        raise UsageError(f"The conversation has no in-call tool {name}; it has {known}.")
    if tool["delivery"].get("api") is None:
        payload = {"conversation_id": conversation_id, "name": name, "arguments": dict(arguments)}
        note_delivery(service, EventName.TOOL_CALL, conversation["conversation_url"], payload)
        return {"event": EventName.TOOL_CALL, "payload": payload}
    return asdict(await deliver(service, tool, arguments))


def _active(service: Service, conversation_id: str) -> Record | None:
    conversation = service.store.get("conversation", conversation_id)
    return conversation if conversation and conversation["status"] == "active" else None


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


def replace_skills(context: HandlerContext) -> dict[str, Any]:
    """Set the complete skills of a PAL; those that are absent are detached."""
    pal = context.find("pal")
    skills = {
        name: {"config": dict(entry.get("config", {}))}
        for name, entry in context.sent["skills"].items()
    }
    context.service.store.put("pal", pal["pal_id"], pal | {"skills": skills})
    return {"data": skills}
