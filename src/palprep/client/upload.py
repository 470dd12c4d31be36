"""The validation of a face image as a call whose body is encoded while it is sent.

The body is ``{"imageBase64":"...","mimeType":"..."}``. It is never held in memory: its exact
length follows from the file's size, so that an image of any size costs a few megabytes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from palprep.api import calls
from palprep.api.call import Call, Endpoint, compact_json
from palprep.api.fields import MAX_IMAGE_BASE64_CHARS, FaceModel, ImageMime
from palprep.api.problems import refusal
from palprep.api.records import FaceValidation
from palprep.api.wire import UNSET, Settings, Unset
from palprep.client.images import (
    MAX_IMAGE_BYTES,
    Image,
    ImageBody,
    Source,
    base64_chars,
    image_mime,
    source,
)
from palprep.errors import Problem

_MARK = "image"


def upload(
    settings: Settings,
    image: Image,
    *,
    model: FaceModel | Unset = UNSET,
    mime_type: ImageMime | Unset = UNSET,
    timeout: float | Unset | None = UNSET,
    validate: bool = True,
) -> Call[FaceValidation]:
    """Check an image before face creation; creates nothing.

    ``image`` is a path, bytes, or a binary file, of at most 22,020,096 bytes (29,360,128
    characters of base64). Its type is found by content unless ``mime_type`` says it. Use
    the ``model`` that the face will be made with; the service takes ``core-4`` otherwise.
    A reply means that the check was made: read its ``passed``.
    """
    given = {"model": model, "mime_type": mime_type, "timeout": timeout, "validate": validate}
    return _call(calls.validate_face_image, settings, image, given)


def upload_legacy(
    settings: Settings,
    image: Image,
    *,
    model: FaceModel | Unset = UNSET,
    mime_type: ImageMime | Unset = UNSET,
    timeout: float | Unset | None = UNSET,
    validate: bool = True,
) -> Call[FaceValidation]:
    """Check an image on the legacy route; ``faces.validate_image`` is the current one."""
    given = {"model": model, "mime_type": mime_type, "timeout": timeout, "validate": validate}
    return _call(calls.validate_replica_image, settings, image, given)


def _call(
    endpoint: Endpoint[..., FaceValidation],
    settings: Settings,
    image: Image,
    given: dict[str, Any],
) -> Call[FaceValidation]:
    content = source(image)
    if given["mime_type"] is UNSET:
        given["mime_type"] = image_mime(content.head()) or UNSET
    if given["validate"]:
        _check(content, given["mime_type"])
    call = endpoint.call((), {"image_base64": _MARK, **given}, settings)
    before, after = compact_json(call.body).split(f'"{_MARK}"', 1)
    return replace(call, body=ImageBody(f'{before}"'.encode(), content, f'"{after}'.encode()))


def _check(image: Source, mime: ImageMime | Unset) -> None:
    if image.size == 0:
        raise refusal([Problem("imageBase64", "empty", f"cannot be made of {image.name}: empty")])
    if image.size > MAX_IMAGE_BYTES:
        chars = base64_chars(image.size)
        raise refusal(
            [
                Problem(
                    "imageBase64",
                    "too_long",
                    f"would be {chars:,} characters, more than {MAX_IMAGE_BASE64_CHARS:,}: "
                    f"{image.name} has {image.size:,} bytes and may have {MAX_IMAGE_BYTES:,}. "
                    "`palprep fix` makes it fit",
                )
            ]
        )
    if mime is UNSET:
        raise refusal(
            [
                Problem(
                    "mimeType",
                    "unknown_type",
                    f"cannot be told: {image.name} is no JPEG, PNG, WebP, HEIC or HEIF. Convert "
                    "it, or give mime_type",
                )
            ]
        )
