"""Every endpoint of the specification, declared once."""

from __future__ import annotations

from typing import Any

from palprep.api.call import Endpoint
from palprep.api.calls.agents import (
    create_conversation as create_conversation,
    create_tool as create_tool,
    delete_deployment as delete_deployment,
    delete_pal as delete_pal,
    delete_tool as delete_tool,
    get_deployment as get_deployment,
    get_document as get_document,
    get_pronunciation_dictionary as get_pronunciation_dictionary,
    get_tool as get_tool,
    list_tools as list_tools,
    patch_deployment as patch_deployment,
    rename_video as rename_video,
    replace_skills as replace_skills,
    runtime_check_connector as runtime_check_connector,
)
from palprep.api.calls.likenesses import (
    create_replica as create_replica,
    create_voice as create_voice,
    get_replica as get_replica,
    get_voice as get_voice,
    list_voices as list_voices,
    update_voice as update_voice,
    validate_face_image as validate_face_image,
    validate_replica_image as validate_replica_image,
)

ENDPOINTS: tuple[Endpoint[..., Any], ...] = tuple(
    sorted(
        (each for each in tuple(globals().values()) if isinstance(each, Endpoint)),
        key=lambda endpoint: (endpoint.unspecified, endpoint.name),
    )
)
"""By their names; those that the specification only mentions come last."""
