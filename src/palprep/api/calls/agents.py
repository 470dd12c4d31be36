"""PALs with their skills and deployments, and what they use: tools, documents, pronunciation
dictionaries, connectors, conversations, videos."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError

from palprep.api.bodies import compact_json
from palprep.api.call import Endpoint, Rate
from palprep.api.failures import problems_in
from palprep.api.records import fields, replies
from palprep.api.reply import Unspecified
from palprep.api.request import UNSET, Place, Request, Unset
from palprep.errors import Problem


class ReplaceSkills(Request):
    """Set the complete skill set of a PAL; skills that are absent are detached.

    ``skills`` maps each skill id to an entry: ``internet_search`` and ``magic_canvas`` take
    ``{}``, ``presentation`` takes ``{"config": {"document_ids": [...], "slides_trigger":
    "on_demand"}}``, where the trigger may be left out.
    """

    pal_id: str
    skills: Mapping[str, fields.SkillEntry]

    def problems(self) -> Iterable[Problem]:
        for skill_id, entry in self.skills.items():
            if skill_id not in SKILLS:
                known = ", ".join(sorted(SKILLS))
                message = f"is an unknown skill; the specification knows {known}"
                yield Problem(f"skills.{skill_id}", "unknown_skill", message)
                continue
            try:
                SKILLS[skill_id].validate_python(entry.get("config", {}))
            except ValidationError as error:
                for each in problems_in(error):
                    path = f"skills.{skill_id}.config.{each.field}"
                    yield Problem(path, each.rule, each.message)


SKILLS: Mapping[str, TypeAdapter[Any]] = {
    "internet_search": TypeAdapter(fields.NoConfig),
    "magic_canvas": TypeAdapter(fields.NoConfig),
    "presentation": TypeAdapter(fields.PresentationConfig),
}


class DeletePal(Request):
    """Delete one PAL. The reply is not specified."""

    pal_id: str


replace_skills = Endpoint(
    "pals.replace_skills", "PUT", "/v2/pals/{pal_id}/skills", ReplaceSkills, replies.PalSkills
)
delete_pal = Endpoint("pals.delete", "DELETE", "/v2/pals/{pal_id}", DeletePal, Unspecified)


class PatchDeployment(Request):
    """Change a deployment by a JSON Patch (RFC 6902).

    ``if_match`` takes the ETag of an earlier read, so that no one else's change is
    overwritten. ``/name`` is the one patchable path that the specification shows.
    """

    deployment_id: str
    operations: Annotated[Sequence[fields.PatchOperation], Place("body")]
    _: KW_ONLY
    if_match: Annotated[str | Unset, Place("header", "If-Match")] = UNSET

    def problems(self) -> Iterable[Problem]:
        for at, operation in enumerate(self.operations):
            op = operation["op"]
            if operation["path"] and not operation["path"].startswith("/"):
                message = "must be empty or start with /, as a JSON Pointer does"
                yield Problem(f"{at}.path", "json_pointer", message)
            if op in {"add", "replace", "test"} and "value" not in operation:
                yield Problem(f"{at}.value", "missing", f"is required by {op}")
            if op in {"move", "copy"} and "from" not in operation:
                yield Problem(f"{at}.from", "missing", f"is required by {op}")


class DeleteDeployment(Request):
    """Delete one deployment. The reply is not specified."""

    deployment_id: str


class GetDeployment(Request):
    """Read one deployment, with its ETag. The specification does not show this operation."""

    deployment_id: str


patch_deployment = Endpoint(
    "deployments.patch",
    "PATCH",
    "/v2/deployments/{deployment_id}",
    PatchDeployment,
    replies.Deployment,
)
delete_deployment = Endpoint(
    "deployments.delete", "DELETE", "/v2/deployments/{deployment_id}", DeleteDeployment, Unspecified
)
get_deployment = Endpoint(
    "deployments.get",
    "GET",
    "/v2/deployments/{deployment_id}",
    GetDeployment,
    replies.Deployment,
    unspecified=True,
)


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


create_tool = Endpoint("tools.create", "POST", "/v2/tools", CreateTool, replies.Tool)
list_tools = Endpoint("tools.list", "GET", "/v2/tools", ListTools, replies.Tools, unspecified=True)
get_tool = Endpoint(
    "tools.get", "GET", "/v2/tools/{tool_id}", GetTool, replies.Tool, unspecified=True
)
delete_tool = Endpoint(
    "tools.delete", "DELETE", "/v2/tools/{tool_id}", DeleteTool, Unspecified, unspecified=True
)


class RenameVideo(Request):
    """Give a generated video another name. The reply is not specified."""

    video_id: str
    video_name: str


class GetDocument(Request):
    """Read one document with its status and progress."""

    document_id: str


class GetPronunciationDictionary(Request):
    """Read one pronunciation dictionary with all its rules."""

    dictionary_id: str


class RuntimeCheckConnector(Request):
    """Check that a conversation can reach the connector's server.

    Lists the server's tools the way a call does and calls none. A server that fails is a
    reply with ``ok`` false, not an error. At most 10 checks a minute, one at a time.
    """

    connector_id: str


class CreateConversation(Request):
    """Start a real-time video call session.

    The specification shows three members and no reply; ``other`` holds further members,
    which are sent as they stand.
    """

    _: KW_ONLY
    face_id: str | Unset = UNSET
    pal_id: str | Unset = UNSET
    conversation_name: str | Unset = UNSET
    other: Annotated[Mapping[str, Any] | Unset, Place("other members")] = UNSET


rename_video = Endpoint(
    "videos.rename",
    "PATCH",
    "/v2/videos/{video_id}/name",
    RenameVideo,
    Unspecified,
    idempotent=True,
)
get_document = Endpoint(
    "documents.get", "GET", "/v2/documents/{document_id}", GetDocument, replies.Document
)
get_pronunciation_dictionary = Endpoint(
    "pronunciation_dictionaries.get",
    "GET",
    "/v2/pronunciation-dictionaries/{dictionary_id}",
    GetPronunciationDictionary,
    replies.PronunciationDictionary,
)
runtime_check_connector = Endpoint(
    "connectors.runtime_check",
    "POST",
    "/v2/connectors/{connector_id}/runtime_check",
    RuntimeCheckConnector,
    replies.ConnectorCheck,
    idempotent=True,
    rate=Rate(requests=10, seconds=60.0),
    failures={
        404: "connector not found",
        409: "OAuth not finished for this connector",
        429: "more than 10 checks in a minute, or another check is still running",
        503: "check not available on this deployment",
    },
)
create_conversation = Endpoint(
    "conversations.create", "POST", "/v2/conversations", CreateConversation, Unspecified
)
