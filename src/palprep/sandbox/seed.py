"""The kinds of records with their default members, and records that a developer puts in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from palprep.api import Reply, calls, deviations, json_value
from palprep.api.records import is_https
from palprep.errors import InvalidRequest, Problem, UsageError
from palprep.sandbox.choices import AUTH_TYPES, Choices
from palprep.sandbox.handlers.seeded import begin_processing
from palprep.sandbox.service import REMOVED_MEMBER, Service
from palprep.sandbox.store import Record, Taken

NULLABLE = frozenset(
    {"Voice.description", "Tool.owner_id", "Tool.origin", "Tool.on_call", "Tool.static_filler"}
    | {"ConnectorCheck.error", "ConnectorError.http_status"}
    | {"Document.progress"}
)
"""Members that the specification lets be null."""

Complete = Callable[[Record, str, str], Record]
"""Takes a record as it was sent, its id and the present time; returns defaults of its members."""


@dataclass(frozen=True, slots=True)
class SeedKind:
    """A kind of record, by its name in the store. ``reply`` is its type, and ``complete`` gives
    defaults. A kind that the specification does not show has neither."""

    name: str
    reply: type[Reply] | None = None
    complete: Complete = lambda _, __, ___: {}
    why: str = ""
    """The error message of a record in error that has none."""
    read: Mapping[str, type] = field(default_factory=dict)
    """The types of members that the sandbox reads though the specification does not show them."""

    @property
    def id_member(self) -> str:
        return (self.reply and self.reply.id_member()) or f"{self.name}_id"

    def completed(self, sent: Record, now: str) -> Record:
        own = sent[self.id_member]
        error = {"error_message": self.why} if self.why and sent.get("status") == "error" else {}
        return {self.id_member: own} | self.complete(sent, own, now) | error | sent


def with_defaults(sent: Mapping[str, Any]) -> Record:
    """The members of a tool's record that a request sets, with their defaults."""
    trigger = sent.get("trigger_type") or "in_call"
    origin = None if trigger == "post_call" else sent.get("origin") or "llm"
    on_resolve = "fire_and_forget" if origin in {"vision", "audio"} else "generate_response"
    delivery = sent.get("delivery") or {}
    api = delivery.get("api")
    return {
        "name": sent["name"],
        "description": sent["description"],
        "parameters": sent["parameters"],
        "delivery": {"app_message": delivery.get("app_message", True)}
        | ({} if api is None else {"api": {"method": "POST", **api}}),
        "trigger_type": trigger,
        "origin": origin,
        "on_call": sent.get("on_call") or ("generate_filler" if origin == "llm" else None),
        "on_resolve": sent.get("on_resolve") or on_resolve,
        "static_filler": sent.get("static_filler"),
    }


def refused_tool(choices: Choices, tool: Mapping[str, Any]) -> Iterator[Problem]:
    """The problems of a tool that is as specified, but that the sandbox's choices refuse."""
    api = (tool.get("delivery") or {}).get("api")
    if api is not None:
        if not is_https(api["url"], loopback=choices.loopback_webhooks):
            yield Problem("delivery.api.url", "https_required", "must use HTTPS")
        if (api.get("auth") or {}).get("type", "none") not in AUTH_TYPES:
            known = f"must be one of {', '.join(AUTH_TYPES)}"
            yield Problem("delivery.api.auth.type", "unknown", known)
    yield from _reserved(tool["parameters"], "parameters", choices.reserved_prefix)


def _reserved(schema: Any, path: str, prefix: str) -> Iterator[Problem]:
    if not isinstance(schema, Mapping | list):
        return
    items = schema.items() if isinstance(schema, Mapping) else enumerate(schema)
    for key, value in items:
        if key == "properties" and isinstance(value, Mapping):
            for name in value:
                if str(name).lower().startswith(f"{prefix}_".lower()):
                    message = f"starts with {prefix}_, which the service reserves"
                    yield Problem(f"{path}.properties.{name}", "reserved", message)
        yield from _reserved(value, f"{path}.{key}", prefix)


def _tool(sent: Record, tool_id: str, now: str) -> Record:
    own = {"name": tool_id, "description": "", "parameters": {"type": "object"}} | sent
    times = {"created_at": now, "updated_at": now}
    # A sandbox has one account.
    return {"owner_id": 1, "is_system_tool": False} | with_defaults(own) | times


def _deployment(_: Record, deployment_id: str, now: str) -> Record:
    return {
        "pal_id": f"pal-of-{deployment_id}",
        "channel": "widget",
        "status": "draft",
        "name": deployment_id,
        "has_password": False,
        "customization": {},
        "thumbnail_video_url": f"https://media.example/{deployment_id}.mp4",
        "thumbnail_image_url": f"https://media.example/{deployment_id}.jpg",
        "limits": {},
        "allowed_origins": [],
        "usage_total": 0,
        "usage_today": 0,
        "created_at": now + "Z",
        "updated_at": now + "Z",
    }


_IN_JSON: Mapping[type, str] = {str: "a string", dict: "an object", list: "an array"}
_OF_PALS = {"layers": dict, "layers.tts": dict, "layers.tts.voice_id": str, "tool_ids": list}
_OF_CONNECTORS = {"url": str, "headers": dict, "auth": dict} | dict.fromkeys(
    ("auth.type", "auth.token", "auth.token_url", "auth.client_id", "auth.client_secret"), str
)

KINDS: Mapping[str, SeedKind] = {
    "pals": SeedKind("pal", read=_OF_PALS),
    "documents": SeedKind(
        "document",
        calls.get_document.reply,
        lambda sent, own, now: {
            "document_name": own,
            "document_url": f"https://documents.example/{own}",
            "status": "ready",
            "progress": 0.0 if sent.get("status") == "processing" else None,
            "created_at": now,
            "updated_at": now,
            "tags": [],
        },
        why="document_processing_failed",
    ),
    "pronunciation_dictionaries": SeedKind(
        "dictionary",
        calls.get_pronunciation_dictionary.reply,
        lambda _, own, now: {"name": own, "rules": [], "created_at": now, "updated_at": now},
    ),
    "deployments": SeedKind("deployment", calls.get_deployment.reply, _deployment),
    "videos": SeedKind("video"),
    "connectors": SeedKind("connector", read=_OF_CONNECTORS),
    "voices": SeedKind(
        "voice",
        calls.get_voice.reply,
        lambda _, own, now: {
            "voice_name": own,
            "description": None,
            "voice_type": "user",
            "status": "completed",
            "tags": [],
            "created_at": now,
        },
        why="The training failed.",
    ),
    "faces": SeedKind("face", read={"default_voice_id": str}),
    "tools": SeedKind("tool", calls.get_tool.reply, _tool),
    "replicas": SeedKind(
        "replica",
        calls.get_replica.reply,
        lambda _, own, now: {
            "status": "completed",
            "replica_name": own,
            "model_name": "core-4",
            "created_at": now,
        },
        why="The training failed.",
        read={"default_voice_id": str},
    ),
}
"""By the names of the kinds in a seed."""


def seed_system_tool(service: Service) -> None:
    """The one built-in tool; see the choice ``system-tool``."""
    if service.store.get("tool", "end_call") is None:
        tool = {
            "tool_id": "end_call",
            "owner_id": None,
            "description": "End the call when the participant says goodbye.",
            "parameters": {"type": "object", "properties": {}, "required": []},
            "is_system_tool": True,
            "on_call": "silent",
            "on_resolve": "fire_and_forget",
        }
        service.store.put("tool", "end_call", KINDS["tools"].completed(tool, service.stamp()))


def seed(service: Service, content: Any, *, anew: bool = True) -> dict[str, int]:
    """Store each record under its own id, with defaults of missing members. Returns how many there
    are of each kind. Records that exist are replaced only with ``anew``. Raises :class:`UsageError`
    for a record that is not as specified; then nothing is stored."""
    try:
        # As over HTTP: a tuple becomes an array, and values that JSON has no form for are refused.
        content = json_value(json.dumps(content).encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"A seed must be JSON: {error}.") from None
    if not isinstance(content, dict):
        raise UsageError(f"A seed is an object with members of {', '.join(KINDS)}.")
    with service.store.transaction():
        for name, records in content.items():
            if name not in KINDS:
                known = ", ".join(KINDS)
                raise UsageError(f"Unknown kind {name!r} in the seed; known are {known}.")
            if not isinstance(records, list):
                raise UsageError(f"{name} in the seed must be an array of records.")
            for number, record in enumerate(records):
                where = f"{name}[{number}] in the seed"
                _seed_record(service, KINDS[name], record, where, anew=anew)
    return {name: len(records) for name, records in content.items()}


def _seed_record(service: Service, kind: SeedKind, sent: Any, where: str, *, anew: bool) -> None:
    own = sent.get(kind.id_member) if isinstance(sent, dict) else None
    if not isinstance(own, str) or not own:
        raise UsageError(f"{where} has no {kind.id_member}.")
    record = kind.completed(sent, service.stamp())
    if kind.reply is not None:
        known = kind.reply.model_fields.keys() | {REMOVED_MEMBER}
        for member in sent.keys() - known:
            if near := get_close_matches(member, known - sent.keys(), n=1, cutoff=0.8):
                raise UsageError(f"{where}: {member} is no member; did you mean {near[0]}?")
    for problem in _problems(service, kind, record):
        raise UsageError(f"{where}: {problem.field} {problem.message}.")
    if not anew and service.store.get(kind.name, own) is not None:
        return
    try:
        service.store.put(kind.name, own, record)
    except Taken:
        name = record["name"]
        raise UsageError(f"{where}: there is another tool called {name}.") from None
    if kind.name == "document":
        begin_processing(service, record)


def _type_problems(read: Mapping[str, type], record: Record) -> Iterator[Problem]:
    for path, wanted in read.items():  # A member comes after the object that holds it.
        held: Any = record
        for part in path.split("."):
            held = (held or {}).get(part)
        if held is not None and not isinstance(held, wanted):
            yield Problem(path, "type", f"must be {_IN_JSON[wanted]}")


def _problems(service: Service, kind: SeedKind, record: Record) -> Iterator[Problem]:
    yield from _type_problems(kind.read, record)
    if (reply := kind.reply) is None:
        return
    yield from deviations(reply, record, closed=False)
    never_null = (n for n in sorted(reply.model_fields) if f"{reply.__name__}.{n}" not in NULLABLE)
    inside = {"": {name: record[name] for name in never_null if name in record}}
    inside |= {f"rules.{at}.": rule for at, rule in enumerate(record.get("rules") or ())}
    inside["crawl_config."] = record.get("crawl_config") or {}
    for where, members in inside.items():
        for name, value in members.items():
            if value is None:
                yield Problem(where + name, "null", "must not be null: leave it out")
    if kind.name == "tool":
        create = calls.create_tool
        sent = {name: record[name] for name in create.shape.members if name in record}
        try:
            create.parse({}, sent)
        except InvalidRequest as error:
            yield from error.problems
        else:
            yield from refused_tool(service.choices, record)
    idle = kind.name == "document" and record["status"] in {"started", "ready"}
    if idle and record.get("progress") is not None:
        yield Problem("progress", "state", f"must be null while status is {record['status']}")
