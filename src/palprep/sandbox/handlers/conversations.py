"""Conversations of PALs, their skills and tools; and the check of connectors, which lists tools by
the Model Context Protocol."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import httpx

from palprep.errors import UsageError
from palprep.sandbox import outbound
from palprep.sandbox.answers import Missing, refuse_error
from palprep.sandbox.choices import bad_fields
from palprep.sandbox.handlers.tools import deliver
from palprep.sandbox.service import HandlerContext, Service
from palprep.sandbox.store import Record, new_id

TOOL_CALL = "conversation.tool_call"


def create_conversation(context: HandlerContext) -> Record:
    service, choices, sent = context.service, context.service.choices, context.sent
    pal = _named(service, sent, "pal_id", "pal")
    face = _named(service, sent, "face_id", "face", "replica")
    if pal is None and face is None:
        raise bad_fields(choices, {"pal_id": "One of pal_id and face_id is required."})
    speech = ((pal or {}).get("layers") or {}).get("tts") or {}
    for voice_id in filter(None, (speech.get("voice_id"), (face or {}).get("default_voice_id"))):
        voice = service.store.get("voice", voice_id)
        if voice is None or voice["status"] != "completed":
            why = f"is not ready: its status is {voice['status']}" if voice else "does not exist"
            raise refuse_error(choices.bad_request_status, f"The voice {voice_id} {why}.")
    conversation_id = new_id("c")
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


def _named(service: Service, sent: Mapping[str, Any], member: str, *kinds: str) -> Record | None:
    """The record of one of these kinds whose id the member holds, None if it was not sent."""
    if (own := sent.get(member)) is None:
        return None
    found = {kind: record for kind in kinds if (record := service.store.get(kind, own))}
    if not found:
        raise refuse_error(service.choices.invalid_id_status, f"Invalid {member}.")
    status = found.get("replica", {}).get("status", "completed")
    if status != "completed":
        why = f"The face {own} is not ready: its status is {status}."
        raise refuse_error(service.choices.bad_request_status, why)
    return next(iter(found.values()))


def end_conversation(
    service: Service, conversation_id: str, arguments: Mapping[str, Any] | None = None
) -> Record | None:
    """Mark an active conversation as ended, and schedule each of its post-call tools once, with its
    ``arguments`` by name. Returns the record, None if there is no such active conversation."""
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
    """See the choice ``in-call-tools``. Raises :class:`UsageError` unless the conversation is
    active and its PAL has the tool."""
    conversation = _active(service, conversation_id)
    if conversation is None:
        raise Missing(f"There is no active conversation {conversation_id}.")
    tools = _tools_of(service, conversation.get("pal_id"), "in_call")
    tool = next((tool for tool in tools if tool["name"] == name), None)
    if tool is None:
        known = ", ".join(tool["name"] for tool in tools)
        raise UsageError(f"The conversation has no in-call tool {name}; it has {known}.")
    if tool["delivery"].get("api") is None:
        payload = {"conversation_id": conversation_id, "name": name, "arguments": dict(arguments)}
        outbound.note_delivery(service, TOOL_CALL, conversation["conversation_url"], payload)
        return {"event": TOOL_CALL, "payload": payload}
    return await deliver(service, tool, arguments)


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
    with service.store.transaction():
        end_conversation(service, job["conversation_id"])


def replace_skills(context: HandlerContext) -> dict[str, Any]:
    pal = context.find("pal")
    skills = {
        name: {"config": dict(entry.get("config", {}))}
        for name, entry in context.sent["skills"].items()
    }
    context.service.store.put("pal", pal["pal_id"], pal | {"skills": skills})
    return {"data": skills}


MAX_MESSAGE = 500  # Limits: error.message length
UNREACHABLE = 424


async def check_connector(context: HandlerContext) -> dict[str, Any]:
    service, timeout_s = context.service, context.service.choices.connector_seconds
    connector = context.find("connector")
    auth = connector.get("auth") or {}
    if auth.get("type") == "oauth" and not auth.get("finished"):
        raise refuse_error(409, "OAuth is not finished for this connector.")
    if find_spec("mcp") is None:
        raise refuse_error(503, "Runtime checks are not available on this deployment.")
    names: list[str] = []
    error: dict[str, Any] | None = None
    with service.check_limit.take(service.now()):
        # Loading the package takes seconds, once. It is no part of the check, and other requests
        # must not wait for it.
        await asyncio.to_thread(import_module, "mcp.client.client")
        started = time.monotonic()
        try:
            async with asyncio.timeout(timeout_s):
                headers = await _authorised(connector, service.http)
                names = await _list_tools(service, connector.get("url"), headers)
        except TimeoutError:
            message = f"The server did not answer within {timeout_s:g} s."
            error = {"http_status": UNREACHABLE, "message": message}
        except outbound.ServerFailed as failure:
            error = {"http_status": failure.http_status, "message": str(failure)[:MAX_MESSAGE]}
    return {
        "ok": error is None,
        "tool_count": len(names),
        "tool_names": names,
        "latency_ms": round((time.monotonic() - started) * 1000),
        "error": error,
    }


async def _authorised(connector: Mapping[str, Any], http: httpx.AsyncClient) -> dict[str, str]:
    headers = dict(connector.get("headers") or {})
    auth = connector.get("auth") or {}
    if auth.get("type") == "client_credentials":
        headers["Authorization"] = f"Bearer {await outbound.client_credentials_token(auth, http)}"
    elif auth.get("token"):
        headers["Authorization"] = f"Bearer {auth['token']}"
    return headers


async def _list_tools(service: Service, url: object, headers: Mapping[str, str]) -> list[str]:
    """The names of all tools that the server at ``url`` lists. Raises :class:`ServerFailed`."""
    if not isinstance(url, str):
        raise outbound.ServerFailed("The connector's record has no url.")
    # An optional extra: the sandbox starts without it.
    import httpx2  # noqa: PLC0415
    from mcp.client.client import Client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    # The answer tells what failed; the package's own log adds a traceback.
    logging.getLogger("mcp.client").setLevel(logging.CRITICAL)
    seen: list[int] = []

    async def note(response: httpx2.Response) -> None:
        seen.append(response.status_code)

    async def check(request: httpx2.Request) -> None:
        if service.choices.outbound == "loopback":
            outbound.refuse_elsewhere(request.url.host)

    names: list[str] = []
    try:
        async with (
            httpx2.AsyncClient(
                headers=dict(headers),
                timeout=service.choices.connector_seconds,
                event_hooks={"request": [check], "response": [note]},
            ) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            cursor: str | None = None
            while True:
                page = await client.list_tools(cursor=cursor)
                names += [tool.name for tool in page.tools]
                cursor = page.next_cursor
                if cursor is None:
                    return names
    except Exception as error:
        # The package raises groups of its own, its transport's and its validator's errors.
        raise outbound.ServerFailed(*_explain(error, seen)) from error


def _explain(error: BaseException, seen: list[int]) -> tuple[str, int | None]:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    message = str(error) or type(error).__name__
    if not seen:
        return message, UNREACHABLE
    return message, seen[-1] if seen[-1] >= httpx.codes.BAD_REQUEST else None
