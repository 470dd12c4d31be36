"""Tools: created with every default filled in, protected when built in, and called."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import quote

import httpx

from palprep.sandbox import outbound
from palprep.sandbox.answers import refuse_error
from palprep.sandbox.choices import bad_fields
from palprep.sandbox.seed import KINDS, refused_tool, with_defaults
from palprep.sandbox.service import HandlerContext, Service
from palprep.sandbox.store import Record, Taken, new_id
from palprep.storage import UNASKABLE

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def create_tool(context: HandlerContext) -> Record:
    service, choices = context.service, context.service.choices
    if refused := {each.field: each.message for each in refused_tool(choices, context.sent)}:
        raise bad_fields(choices, refused)
    tool_id = new_id("t")
    tool = {"tool_id": tool_id, **with_defaults(context.sent)}
    record = KINDS["tools"].completed(tool, service.stamp())
    try:
        service.store.create("tool", tool_id, record)
    except Taken:
        raise refuse_error(
            choices.name_taken_status, f"A tool with this name already exists: {tool['name']}."
        ) from None
    return record


def delete_tool(context: HandlerContext) -> None:
    tool, choices = context.find("tool"), context.service.choices
    if tool.get("is_system_tool"):
        raise refuse_error(choices.system_tool_status, "System tools cannot be deleted.")
    context.delete("tool")


def fill(template: Any, arguments: Mapping[str, Any], *, in_url: bool = False) -> Any:
    """``template`` with each ``{placeholder}`` replaced by its argument, at any depth. A string
    that is only a placeholder becomes the argument itself, with its type. A placeholder without an
    argument stays. In a URL every argument is percent-encoded."""
    if isinstance(template, Mapping):
        return {name: fill(value, arguments) for name, value in template.items()}
    if isinstance(template, list):
        return [fill(value, arguments) for value in template]
    if not isinstance(template, str):
        return template
    whole = _PLACEHOLDER.fullmatch(template)
    if whole and whole[1] in arguments and not in_url:
        return arguments[whole[1]]

    def put(match: re.Match[str]) -> str:
        if match[1] not in arguments:
            return match[0]
        text = _text(arguments[match[1]])
        return quote(text, safe="") if in_url else text

    return _PLACEHOLDER.sub(put, template)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


async def build_request(
    api: Mapping[str, Any], arguments: Mapping[str, Any], http: httpx.AsyncClient
) -> httpx.Request:
    """The request that this tool's delivery describes. Raises
    :class:`~palprep.sandbox.outbound.ServerFailed` if no token can be had for it, and
    httpx.InvalidURL."""
    headers = dict(api.get("headers") or {})
    query = {name: _text(fill(v, arguments)) for name, v in (api.get("query_params") or {}).items()}
    auth = api.get("auth") or {}
    match auth.get("type", "none"):
        case "bearer":
            headers["Authorization"] = f"Bearer {auth.get('token', '')}"
        case "basic":
            both = f"{auth.get('username') or ''}:{auth.get('password') or ''}".encode()
            headers["Authorization"] = f"Basic {b64encode(both).decode()}"
        case "api_key" if auth.get("location") == "query":
            query[auth.get("name") or "api_key"] = auth.get("value") or ""
        case "api_key":
            headers[auth.get("name") or "X-Api-Key"] = auth.get("value") or ""
        case "oauth2_client_credentials":
            headers["Authorization"] = (
                f"Bearer {await outbound.client_credentials_token(auth, http)}"
            )
    template = api.get("body_template")
    url = httpx.URL(fill(api["url"], arguments, in_url=True))
    return http.build_request(
        api.get("method") or "POST",
        url.copy_merge_params(query) if query else url,
        headers=headers | {"Content-Type": api.get("content_type") or "application/json"},
        content=json.dumps(dict(arguments) if template is None else fill(template, arguments)),
    )


async def run_post_call_tool(service: Service, job: Record) -> None:
    tool = service.store.get("tool", job["tool_id"])
    if tool is not None:
        await deliver(service, tool, job["arguments"])


async def deliver(service: Service, tool: Record, arguments: Mapping[str, Any]) -> Record:
    """Send the request of a tool with ``delivery.api``, and log it. Returns its server's answer:
    the ``status`` and the beginning of the ``body``, or the ``problem``."""
    answer: Record = {"status": None, "body": "", "problem": None}
    kept = service.store.cleared
    api = tool["delivery"]["api"]
    timeout = api.get("timeout") or service.choices.tool_timeout_seconds
    try:
        request = await build_request(api, arguments, service.http)
        request.extensions["timeout"] = httpx.Timeout(timeout).as_dict()
        async with (
            outbound.within(timeout),
            aclosing(await service.http.send(request, stream=True)) as response,
        ):
            answer |= {"status": response.status_code, "body": await outbound.beginning(response)}
    except (*UNASKABLE, outbound.ServerFailed) as error:
        answer["problem"] = str(error) or type(error).__name__
    outcome = {name: answer[name] for name in ("status", "problem")}
    if service.store.cleared == kept:
        outbound.note_delivery(service, f"tool:{tool['name']}", api["url"], arguments, **outcome)
    return answer
