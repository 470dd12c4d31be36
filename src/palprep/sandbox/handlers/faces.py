"""Face images: judged by the judge that the sandbox was given, in the specified shape."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from palprep.api import FACE_CHECKS, FACE_PROBLEMS
from palprep.errors import DamagedMedia, MediaError
from palprep.sandbox.answers import Refused
from palprep.sandbox.choices import image_error
from palprep.sandbox.service import HandlerContext, Recognise, Service, recognised_here
from palprep.values import Kind

# What the judge where none is given asks of an image, in bytes.
MIN_IMAGE_BYTES = 1024


def judge_by_bytes(
    path: Path,
    model: str,  # noqa: ARG001
    *,
    recognise: Recognise = recognised_here,
) -> dict[str, bool | None]:
    """The default judge: one check, that the image has at least 1024 bytes.

    Raises :class:`~palprep.errors.DamagedMedia` for what is not an image.
    """
    found = recognise(path)
    if found.kind is not Kind.IMAGE:
        raise DamagedMedia(f"It is {found.description}, not an image of an accepted type.")
    return {"image_quality_acceptable": path.stat().st_size >= MIN_IMAGE_BYTES}


async def validate_face(context: HandlerContext, *, pose_key: str) -> dict[str, Any]:
    """The verdict; the pose is under ``pose_key`` among the details."""
    outcomes = await asyncio.to_thread(
        _judge,
        context.service,
        context.request.image_base64,
        context.sent.get("mimeType", "image/jpeg"),
        context.sent.get("model", "core-4"),
    )
    return validation_result(outcomes, pose_key=pose_key)


def _judge(
    service: Service, image_base64: str, mime_type: str, model: str
) -> Mapping[str, bool | None]:
    """Decode to a file and have it judged. Runs in a thread; raises :class:`Refused`."""
    try:
        image = base64.b64decode(image_base64, validate=True)
    except ValueError as error:  # binascii.Error, or characters beyond ASCII
        raise Refused(image_error("invalid_base64").answer(f"{error}.")) from error
    with TemporaryDirectory(dir=service.scratch) as folder:
        path = Path(folder) / "image"
        path.write_bytes(image)
        try:
            found = service.recognise(path)
            if found.mime.replace("heif", "heic") != mime_type.replace("heif", "heic"):
                raise DamagedMedia(f"They are {found.description}, not {mime_type}.")
            outcomes = service.judge_image(path, model)
        except MediaError as error:
            raise Refused(image_error("undecodable_image").answer(error.message)) from error
    left_out = service.choices.checks_left_out.get(model, ())
    return {check: passed for check, passed in outcomes.items() if check not in left_out}


def validation_result(outcomes: Mapping[str, bool | None], *, pose_key: str) -> dict[str, Any]:
    """The specified result for the outcomes of a judge; unmeasured checks are left out."""
    measured = {check: passed for check, passed in outcomes.items() if passed is not None}
    failed = [FACE_CHECKS.get(check, check) for check, passed in measured.items() if not passed]
    details: dict[str, Any] = {
        "scene_description": f"{len(measured)} of {len(FACE_CHECKS)} checks were measured."
    }
    for check, passed in measured.items():
        key = pose_key if check == "pose_suitable_for_replica" else check
        details[key] = passed is not (check in FACE_PROBLEMS)
    return {
        "passed": not failed,
        "message": (
            "The image fails these checks: " + "; ".join(failed) + "."
            if failed
            else "The image passes every check that was measured."
        ),
        "checks": [
            {"id": check, "label": FACE_CHECKS.get(check, check), "passed": passed}
            for check, passed in measured.items()
        ],
        "details": details | {"issues": failed},
    }
