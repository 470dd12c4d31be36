"""Tools: functions that a PAL calls in a conversation, or runs once after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any

from palprep.api.bodies import compact_json
from palprep.api.call import Endpoint
from palprep.api.records import fields
from palprep.api.records.replies import Tool, Tools
from palprep.api.reply import Unspecified
from palprep.api.request import UNSET, Request, Unset
from palprep.errors import Problem


class CreateTool(Request):
    """Create a tool, to be attached to one or more PALs later.

    ``parameters`` is a JSON Schema in function-calling shape. A tool is called in the
    conversation by the language model, unless ``origin`` makes it a perception tool
    (``vision``, ``audio``) or ``trigger_type="post_call"`` runs it once afterwards.
    """

    _: KW_ONLY
    name: fields.ToolName
    description: str
    parameters: Mapping[str, Any]
    delivery: fields.Delivery | Unset = UNSET
    trigger_type: fields.TriggerType | Unset = UNSET
    origin: fields.Origin | Unset | None = UNSET
    on_call: fields.OnCall | Unset | None = UNSET
    on_resolve: fields.OnResolve | Unset = UNSET
    static_filler: str | Unset | None = UNSET

    def problems(self) -> Iterable[Problem]:
        yield from self._size()
        yield from _function_shape(self.parameters)
        yield from self._channel()
        if self.trigger_type == "post_call":
            if self.origin not in {UNSET, None}:
                yield Problem("origin", "not_allowed", "must be left out of a post-call tool")
            if self.delivery is UNSET or self.delivery.get("api") is None:
                yield Problem("delivery.api", "missing", "is required for a post-call tool")
        elif self.origin is None:
            yield Problem("origin", "missing", "is required for an in-call tool")
        if self.origin in {"vision", "audio"}:
            yield from self._perception()
        elif self.on_call == "static_filler" and not self.static_filler:
            message = "is required when on_call is static_filler"
            yield Problem("static_filler", "missing", message)

    def _size(self) -> Iterator[Problem]:
        try:
            size = len(self.description) + len(compact_json(self.parameters))
        except (TypeError, ValueError) as error:
            yield Problem("parameters", "json", f"cannot be written as JSON: {error}")
            return
        if size > fields.MAX_TOOL_CHARS:
            yield Problem(
                "description",
                "too_long",
                f"and the serialized parameters are {size:,} characters together, more than "
                f"{fields.MAX_TOOL_CHARS:,}",
            )

    def _channel(self) -> Iterator[Problem]:
        if self.delivery is UNSET:
            return
        api = self.delivery.get("api")
        app_message = self.delivery.get("app_message", True)
        if (api is None) is not app_message:
            message = "must enable one channel: app_message, or api with app_message false"
            yield Problem("delivery", "one_channel", message)
        # A local service may take plain HTTP on its own machine.
        if api is not None and not fields.is_https(api["url"], loopback=True):
            yield Problem("delivery.api.url", "https_required", "must use HTTPS")

    def _perception(self) -> Iterator[Problem]:
        if self.on_call not in {UNSET, None}:
            yield Problem("on_call", "not_allowed", "must be null for a perception tool")
        if self.on_resolve not in {UNSET, "fire_and_forget"}:
            message = "must be fire_and_forget for a perception tool"
            yield Problem("on_resolve", "not_allowed", message)
        if self.static_filler not in {UNSET, None}:
            yield Problem("static_filler", "not_allowed", "must be null for a perception tool")


def _function_shape(schema: Mapping[str, Any]) -> Iterator[Problem]:
    """Tool, parameters: the arguments of a function, an object by its members' schemas."""
    if schema.get("type", "object") != "object":
        yield Problem("parameters.type", "function_shape", "must be object")
    properties, required = schema.get("properties", {}), schema.get("required", ())
    if not isinstance(properties, Mapping):
        yield Problem("parameters.properties", "function_shape", "must be an object")
        return
    for name, each in properties.items():
        if not isinstance(each, Mapping | bool):
            yield Problem(f"parameters.properties.{name}", "function_shape", "must be a schema")
    if not isinstance(required, list | tuple) or any(
        not isinstance(name, str) or name not in properties for name in required
    ):
        message = "must be an array of names of properties"
        yield Problem("parameters.required", "function_shape", message)


class ListTools(Request):
    """List the account's tools. The specification does not show this operation."""


class GetTool(Request):
    """Read one tool. The specification does not show this operation."""

    tool_id: str


class DeleteTool(Request):
    """Delete one tool; system tools cannot be. The specification does not show this."""

    tool_id: str


create_tool = Endpoint("tools.create", "POST", "/v2/tools", CreateTool, Tool)
list_tools = Endpoint("tools.list", "GET", "/v2/tools", ListTools, Tools, unspecified=True)
get_tool = Endpoint("tools.get", "GET", "/v2/tools/{tool_id}", GetTool, Tool, unspecified=True)
delete_tool = Endpoint(
    "tools.delete", "DELETE", "/v2/tools/{tool_id}", DeleteTool, Unspecified, unspecified=True
)
