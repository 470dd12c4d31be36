"""Tools: created with every default filled in, protected when built in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palprep.sandbox.answers import JsonAnswer, bad_fields, refuse_error
from palprep.sandbox.choices import AUTH_TYPES, Choices
from palprep.sandbox.handler import HandlerContext
from palprep.sandbox.store import Record, Taken

# Internal owner id: one sandbox has one account.
OWNER_ID = 1


def create_tool(context: HandlerContext) -> JsonAnswer:
    """Record a tool with every default filled in; its name must be free."""
    service, choices = context.service, context.service.choices
    _known_auth(choices, context.sent)
    tool = with_defaults(context.sent)
    tool_id = service.recorder.new_id("t")
    now = service.stamp()
    record = {"tool_id": tool_id, "owner_id": OWNER_ID, **tool}
    record |= {"is_system_tool": False, "created_at": now, "updated_at": now}
    try:
        service.store.create("tool", tool_id, record)
    except Taken:
        raise refuse_error(
            choices.name_taken_status, f"A tool with this name already exists: {tool['name']}."
        ) from None
    return JsonAnswer(choices.tool_created_status, record)


def _known_auth(choices: Choices, sent: Mapping[str, Any]) -> None:
    auth = ((sent.get("delivery") or {}).get("api") or {}).get("auth") or {}
    if auth.get("type", "none") not in AUTH_TYPES:
        known = f"must be one of {', '.join(AUTH_TYPES)}"
        raise bad_fields(choices.bad_request_status, {"delivery.api.auth.type": known})


def with_defaults(sent: Mapping[str, Any]) -> Record:
    """The tool's own members as the record shows them."""
    trigger = sent.get("trigger_type") or "in_call"
    origin = None if trigger == "post_call" else sent.get("origin") or "llm"
    spoken = origin == "llm"
    return {
        "name": sent["name"],
        "description": sent["description"],
        "parameters": sent["parameters"],
        "delivery": _delivery(sent.get("delivery") or {}),
        "trigger_type": trigger,
        "origin": origin,
        "on_call": (sent.get("on_call") or "generate_filler") if spoken else sent.get("on_call"),
        "on_resolve": sent.get("on_resolve")
        or ("fire_and_forget" if origin in {"vision", "audio"} else "generate_response"),
        "static_filler": sent.get("static_filler"),
    }


def _delivery(sent: Mapping[str, Any]) -> Record:
    api = sent.get("api")
    delivery: Record = {"app_message": sent.get("app_message", True)}
    if api is not None:
        delivery["api"] = {"method": "POST", **api}
    return delivery


def list_tools(context: HandlerContext) -> JsonAnswer:
    """All tools, the built-in one among them, oldest first."""
    return JsonAnswer(body={"data": context.service.store.all("tool")})


def get_tool(context: HandlerContext) -> JsonAnswer:
    """One tool."""
    return JsonAnswer(body=_find(context))


def delete_tool(context: HandlerContext) -> JsonAnswer:
    """Delete one tool, unless it is built in."""
    tool, choices = _find(context), context.service.choices
    if tool.get("is_system_tool"):
        raise refuse_error(choices.system_tool_status, "System tools cannot be deleted.")
    context.service.store.delete("tool", tool["tool_id"])
    return JsonAnswer(choices.deleted_status)


def _find(context: HandlerContext) -> Record:
    tool = context.service.store.get("tool", context.request.tool_id)
    if tool is None:
        raise refuse_error(context.service.choices.not_found_status, "Tool not found.")
    return tool
