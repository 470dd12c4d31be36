"""Which declared endpoint is served by which handler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from palprep.api.call import Endpoint
from palprep.api.calls import ENDPOINTS
from palprep.sandbox.handler import Handler
from palprep.sandbox.handlers import (
    connectors,
    conversations,
    deployments,
    faces,
    knowledge,
    pals,
    replicas,
    tools,
    voices,
)
from palprep.sandbox.refusals import (
    Refusal,
    refuse_fields,
    refuse_image,
    refuse_patch,
    refuse_skills,
)

HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "connectors.runtime_check": connectors.check_connector,
        "conversations.create": conversations.create_conversation,
        "deployments.delete": deployments.delete_deployment,
        "deployments.get": deployments.get_deployment,
        "deployments.patch": deployments.patch_deployment,
        "documents.get": knowledge.get_document,
        "faces.validate_image": faces.validate_face,
        "pals.delete": pals.delete_pal,
        "pals.replace_skills": pals.replace_skills,
        "pronunciation_dictionaries.get": knowledge.get_dictionary,
        "replicas.create": replicas.create_replica,
        "replicas.get": replicas.get_replica,
        "replicas.validate_image": faces.validate_face_legacy,
        "tools.create": tools.create_tool,
        "tools.delete": tools.delete_tool,
        "tools.get": tools.get_tool,
        "tools.list": tools.list_tools,
        "videos.rename": knowledge.rename_video,
        "voices.create": voices.create_voice,
        "voices.get": voices.get_voice,
        "voices.list": voices.list_voices,
        "voices.update": voices.update_voice,
    }
)

REFUSALS: Mapping[str, Refusal] = MappingProxyType(
    {
        "deployments.patch": refuse_patch,
        "faces.validate_image": refuse_image,
        "pals.replace_skills": refuse_skills,
        "replicas.validate_image": refuse_image,
    }
)


@dataclass(frozen=True, slots=True)
class Serving:
    """An endpoint, its handler, and what turns its broken rules into an error body."""

    endpoint: Endpoint[..., Any]
    handler: Handler
    refusal: Refusal


def servings() -> tuple[Serving, ...]:
    """Every declared endpoint; a declaration without a handler is a KeyError at the start."""
    return tuple(
        Serving(each, HANDLERS[each.name], REFUSALS.get(each.name, refuse_fields))
        for each in ENDPOINTS
    )
