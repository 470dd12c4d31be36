"""Everything that the specification does not show and a running service must still decide.

Each field of :class:`Choices` is one such decision: its default, the place in the specification
that leaves it open, and its meaning. A developer who knows better gives the sandbox other values.
``conduct.toml`` holds the decisions that are not values. ``GET /_sandbox/choices`` lists both.
There are no others.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import Field

from palprep.api import Given
from palprep.sandbox.answers import ImageError, Refused, refuse_error
from palprep.values import Many


def _choice(default: Any, where: str, what: str) -> Any:
    return Field(default, description=what, json_schema_extra={"where": where})


# The range of statuses that a server can answer with.
ErrorStatus = Annotated[int, Field(ge=400, le=599)]
SuccessStatus = Annotated[int, Field(ge=200, le=299)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Size = Annotated[int, Field(gt=0)]


class Choices(Given):
    """The sandbox's decisions. Times are in seconds, sizes in bytes. A mistake is a UsageError."""

    # Statuses of errors and successes, none of which the specification gives.
    bad_request_status: ErrorStatus = _choice(400, "Errors", "A body that breaks a rule.")
    invalid_key_status: ErrorStatus = _choice(401, "Authentication 4", "A missing or wrong key.")
    unscoped_key_status: ErrorStatus = _choice(
        403, "Create Voice", "A key that is not user-scoped."
    )
    not_found_status: ErrorStatus = _choice(
        404, "Errors", "An unknown voice, replica, tool, deployment, document or dictionary."
    )
    invalid_id_status: ErrorStatus = _choice(400, "Errors", "An invalid pal_id or video_id.")
    name_taken_status: ErrorStatus = _choice(
        409, "Errors", "A tool name already used in the account."
    )
    system_tool_status: ErrorStatus = _choice(403, "Tool", "Deleting a built-in system tool.")
    etag_mismatch_status: ErrorStatus = _choice(
        412, "Patch Deployment", "If-Match given and not the deployment's ETag."
    )
    body_too_large_status: ErrorStatus = _choice(413, "Limits", "A body over its limit.")
    tool_created_status: SuccessStatus = _choice(201, "Create Tool", "Success of Create Tool.")
    created_status: SuccessStatus = _choice(
        200, "Create Voice, Create Replica, Create Conversation", "Success of the other creates."
    )
    deleted_status: SuccessStatus = _choice(
        204, "Delete PAL, Delete Deployment", "Success of a delete, without a body."
    )

    # Who judges media.
    judge: Literal["given", "bytes"] = _choice(
        "given",
        "Validate Face Image",
        "given: the judge that the sandbox was started with. bytes: one that looks at the first "
        "bytes of each image; also where none was given.",
    )
    trainer: Literal["given", "bytes"] = _choice(
        "given",
        "Create Voice, Create Replica",
        "given: the trainer that the sandbox was started with. bytes: one that looks at the first "
        "bytes of each file and hears nothing; also where none was given.",
    )

    # Times: how long what takes "up to a few minutes" takes here.
    voice_seconds: Seconds = _choice(2.0, "Voice status", "From creation to the end of training.")
    replica_seconds: Seconds = _choice(
        3.0, "Replica status", "From creation to the end of training."
    )
    document_step_seconds: Seconds = _choice(
        1.0, "Document status", "Between two steps of a document that is being processed."
    )
    conversation_seconds: Seconds = _choice(
        3600.0, "Create Conversation", "After which a conversation ends by itself."
    )
    callback_retry_seconds: Many[Seconds] = _choice(
        (5.0, 30.0),
        "Events",
        "Pauses before a callback is sent again, after no answer in 10 s or one outside 2xx.",
    )

    # Bounds.
    outbound: Literal["loopback", "anywhere"] = _choice(
        "loopback",
        "no part of the service",
        "Where media, callbacks, tools and connectors may be: on this machine, or anywhere.",
    )
    fetch_seconds: Seconds = _choice(
        600.0, "Create Voice, Create Replica", "Longest time that fetching one file may take."
    )
    json_body_bytes: Size = _choice(
        1024 * 1024, "Limits", "Largest body, except for the image validation's 30 MiB."
    )
    media_bytes: Size = _choice(
        2 * 1024**3, "Create Voice, Create Replica", "Largest file that training fetches."
    )
    tool_timeout_seconds: Seconds = _choice(
        10.0, "Limits", "Unit of delivery.api.timeout is taken as seconds; this is its default."
    )
    connector_seconds: Seconds = _choice(
        10.0, "Runtime Check Connector", "After which a connector's server is given up."
    )

    # Values that the specification names no example of.
    checks_left_out: Mapping[str, Many[str]] = _choice(
        {"core-4.5": ("person_centered",)},
        "Validate Face Image",
        "Checks that are not made for a model: their set varies by model, and how is not shown.",
    )
    loopback_webhooks: bool = _choice(
        False,  # noqa: FBT003 -- a choice is its default first
        "Tool delivery",
        "Whether delivery.api.url may be http:// on this machine, which the specification refuses.",
    )
    reserved_prefix: str = _choice(
        "palprep", "Tool", "Stands for the service's own name before an underscore."
    )
    required_voice_fields: Many[str] = _choice(
        ("voice_name", "training_audio_url"), "Create Voice", "Fields that must be sent."
    )
    patchable: Many[str] = _choice(
        ("name", "status", "customization", "limits", "allowed_origins"),
        "Patch Deployment",
        "Members of a deployment that a patch may change.",
    )
    stock_voices: Many[str] = _choice(
        ("anna", "benjamin", "gloria", "nathan"),
        "Create Replica",
        "Slugs that voice_name takes, in any case: the stock replicas' voices.",
    )


AUTH_TYPES = ("none", "bearer", "basic", "api_key", "oauth2_client_credentials")
"""See the choice ``tool-auth``."""

IMAGE_ERRORS = (
    # Seven variants exist and none of their codes is shown; these are the sandbox's seven.
    ImageError("invalid_request_body", 400, "Bad Request", "The body is not as specified."),
    ImageError("image_required", 400, "Bad Request", "imageBase64 is missing or empty."),
    ImageError(
        "image_too_large", 413, "Payload Too Large", "The image is over the limit of its size."
    ),
    ImageError("invalid_base64", 400, "Bad Request", "imageBase64 is not base64."),
    ImageError("unsupported_mime_type", 400, "Bad Request", "This mimeType is not accepted."),
    ImageError("unsupported_model", 400, "Bad Request", "There is no such model."),
    ImageError(
        "undecodable_image", 422, "Unprocessable Entity", "The bytes are not an image of mimeType."
    ),
)


def bad_fields(choices: Choices, problems: Mapping[str, str]) -> Refused:
    """``{error}``: "Bad Request." and then a JSON object of messages by field path."""
    text = f"Bad Request. {json.dumps(dict(problems), ensure_ascii=False)}"
    return refuse_error(choices.bad_request_status, text)


def bad_patch(choices: Choices, why: str) -> Refused:
    """``{error}`` with the words that the specification has for a malformed patch."""
    return refuse_error(choices.bad_request_status, f"Invalid JSON patch format: {why}.")


def image_error(code: str) -> ImageError:
    """The first variant whose code matches the pattern ``code``."""
    return next(error for error in IMAGE_ERRORS if fnmatchcase(error.code, code))


def conduct() -> Mapping[str, Mapping[str, Any]]:
    """The decisions that are not values, by id: ``where``, ``what``, and ``goes_with``, a choice
    and its value, if the decision holds only with that value."""
    return tomllib.loads(resources.files(__package__).joinpath("conduct.toml").read_text("utf-8"))


def listing(choices: Choices) -> list[dict[str, Any]]:
    """Every decision in force: ``{id, where, what}``, and ``value`` where there is one."""
    values = choices.to_json()
    return [
        {
            "id": name.replace("_", "-"),
            "where": (field.json_schema_extra or {}).get("where"),
            "what": field.description,
            "value": values[name],
        }
        for name, field in Choices.model_fields.items()
        if isinstance(field.json_schema_extra, dict)
    ] + [
        {
            "id": "image-errors",
            "where": "Errors",
            "what": "The seven error variants of the image validation.",
            "value": [error.answer().body | {"status": error.status} for error in IMAGE_ERRORS],
        },
        *(
            {"id": name, "where": each["where"], "what": each["what"], "value": None}
            for name, each in conduct().items()
            if "goes_with" not in each or tuple(each["goes_with"]) in values.items()
        ),
    ]
