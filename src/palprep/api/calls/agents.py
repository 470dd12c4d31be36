"""PALs with their skills and deployments, and what they use: documents, pronunciation
dictionaries, connectors, conversations, videos."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError

from palprep.api.call import Endpoint, Rate
from palprep.api.failures import problems_in
from palprep.api.records.fields import NoConfig, PatchOperation, PresentationConfig, SkillEntry
from palprep.api.records.replies import (
    ConnectorCheck,
    Deployment,
    Document,
    PalSkills,
    PronunciationDictionary,
)
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
    skills: Mapping[str, SkillEntry]

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
    "internet_search": TypeAdapter(NoConfig),
    "magic_canvas": TypeAdapter(NoConfig),
    "presentation": TypeAdapter(PresentationConfig),
}


class DeletePal(Request):
    """Delete one PAL. The reply is not specified."""

    pal_id: str


replace_skills = Endpoint(
    "pals.replace_skills", "PUT", "/v2/pals/{pal_id}/skills", ReplaceSkills, PalSkills
)
delete_pal = Endpoint("pals.delete", "DELETE", "/v2/pals/{pal_id}", DeletePal, Unspecified)


class PatchDeployment(Request):
    """Change a deployment by a JSON Patch (RFC 6902).

    ``if_match`` takes the ETag of an earlier read, so that no one else's change is
    overwritten. ``/name`` is the one patchable path that the specification shows.
    """

    deployment_id: str
    operations: Annotated[Sequence[PatchOperation], Place("body")]
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
    "deployments.patch", "PATCH", "/v2/deployments/{deployment_id}", PatchDeployment, Deployment
)
delete_deployment = Endpoint(
    "deployments.delete", "DELETE", "/v2/deployments/{deployment_id}", DeleteDeployment, Unspecified
)
get_deployment = Endpoint(
    "deployments.get",
    "GET",
    "/v2/deployments/{deployment_id}",
    GetDeployment,
    Deployment,
    unspecified=True,
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
    "documents.get", "GET", "/v2/documents/{document_id}", GetDocument, Document
)
get_pronunciation_dictionary = Endpoint(
    "pronunciation_dictionaries.get",
    "GET",
    "/v2/pronunciation-dictionaries/{dictionary_id}",
    GetPronunciationDictionary,
    PronunciationDictionary,
)
runtime_check_connector = Endpoint(
    "connectors.runtime_check",
    "POST",
    "/v2/connectors/{connector_id}/runtime_check",
    RuntimeCheckConnector,
    ConnectorCheck,
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
