"""Every endpoint of the specification, declared once."""

from __future__ import annotations

from typing import Any

from palprep.api.call import Endpoint
from palprep.api.calls.deployments import delete_deployment, get_deployment, patch_deployment
from palprep.api.calls.faces import validate_face_image, validate_replica_image
from palprep.api.calls.others import (
    create_conversation,
    get_document,
    get_pronunciation_dictionary,
    rename_video,
    runtime_check_connector,
)
from palprep.api.calls.pals import delete_pal, replace_skills
from palprep.api.calls.replicas import create_replica, get_replica
from palprep.api.calls.tools import create_tool, delete_tool, get_tool, list_tools
from palprep.api.calls.voices import create_voice, get_voice, list_voices, update_voice

ENDPOINTS: tuple[Endpoint[..., Any], ...] = (
    runtime_check_connector,
    create_tool,
    validate_face_image,
    validate_replica_image,
    create_voice,
    get_voice,
    update_voice,
    replace_skills,
    delete_pal,
    patch_deployment,
    delete_deployment,
    rename_video,
    get_document,
    get_pronunciation_dictionary,
    create_replica,
    create_conversation,
    get_replica,
    list_voices,
    get_deployment,
    list_tools,
    get_tool,
    delete_tool,
)
"""In the order of the specification; those that it only mentions come last."""

__all__ = [
    "ENDPOINTS",
    "create_conversation",
    "create_replica",
    "create_tool",
    "create_voice",
    "delete_deployment",
    "delete_pal",
    "delete_tool",
    "get_deployment",
    "get_document",
    "get_pronunciation_dictionary",
    "get_replica",
    "get_tool",
    "get_voice",
    "list_tools",
    "list_voices",
    "patch_deployment",
    "rename_video",
    "replace_skills",
    "runtime_check_connector",
    "update_voice",
    "validate_face_image",
    "validate_replica_image",
]
