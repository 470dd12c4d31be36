"""Which declared endpoint is served by which handler, and how its broken rules are answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from palprep.errors import Problem
from palprep.sandbox.answers import Refused, bad_fields, refuse_error
from palprep.sandbox.choices import Choices, image_error
from palprep.sandbox.handlers import (
    connectors,
    conversations,
    deployments,
    documents,
    faces,
    tools,
    training,
)
from palprep.sandbox.service import Handler

Refusal = Callable[[Choices, Sequence[Problem]], Refused]


def refuse_fields(choices: Choices, problems: Sequence[Problem]) -> Refused:
    """``{error}`` with a bad-request text and a mapping of field path to message."""
    return bad_fields(
        choices.bad_request_status, {p.field or "body": p.message for p in reversed(problems)}
    )


def refuse_skills(choices: Choices, problems: Sequence[Problem]) -> Refused:
    """An unknown skill is named for what it is; anything else is a field."""
    unknown = [p.field.partition(".")[2] for p in problems if p.rule == "unknown_skill"]
    if unknown:
        return refuse_error(choices.bad_request_status, f"Unknown skill: {', '.join(unknown)}.")
    return refuse_fields(choices, problems)


def refuse_patch(choices: Choices, problems: Sequence[Problem]) -> Refused:
    """``{error}`` that begins as the specification says a malformed patch is answered."""
    first = problems[0]
    detail = f"{first.field} {first.message}".strip()
    return refuse_error(choices.bad_request_status, f"Invalid JSON patch format: {detail}.")


# By field and broken rule. All other rules of a field are about the form of the body.
_IMAGE_VARIANTS: Mapping[tuple[str, str], str] = {
    ("imageBase64", "missing"): "image_required",
    ("imageBase64", "too_short"): "image_required",
    ("imageBase64", "too_long"): "image_too_large",
    ("imageBase64", "data_url"): "invalid_base64",
    ("mimeType", "literal_error"): "unsupported_mime_type",
    ("model", "literal_error"): "unsupported_model",
    ("", "body_too_large"): "image_too_large",
}


def refuse_image(choices: Choices, problems: Sequence[Problem]) -> Refused:  # noqa: ARG001
    """One of the seven ``{message, error, code}`` variants."""
    first = problems[0]
    variant = _IMAGE_VARIANTS.get((first.field, first.rule), "invalid_request_body")
    return image_error(variant).refuse(f"{first.field or 'The body'} {first.message}.")


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "connectors.runtime_check": connectors.check_connector,
        "conversations.create": conversations.create_conversation,
        "deployments.delete": deployments.delete_deployment,
        "deployments.get": deployments.get_deployment,
        "deployments.patch": deployments.patch_deployment,
        "documents.get": documents.get_document,
        "faces.validate_image": faces.validate_face,
        "pals.delete": conversations.delete_pal,
        "pals.replace_skills": conversations.replace_skills,
        "pronunciation_dictionaries.get": documents.get_dictionary,
        "replicas.create": training.create_replica,
        "replicas.get": training.get_replica,
        "replicas.validate_image": faces.validate_face_legacy,
        "tools.create": tools.create_tool,
        "tools.delete": tools.delete_tool,
        "tools.get": tools.get_tool,
        "tools.list": tools.list_tools,
        "videos.rename": documents.rename_video,
        "voices.create": training.create_voice,
        "voices.get": training.get_voice,
        "voices.list": training.list_voices,
        "voices.update": training.update_voice,
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
