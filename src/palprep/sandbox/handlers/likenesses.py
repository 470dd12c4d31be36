"""Face images, voices and replicas. A judge decides about images. When the clock ends a training,
its media are fetched over HTTP, and a trainer decides about them."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args
from urllib.parse import unquote, urlsplit

from palprep.api import UNSET
from palprep.api.records import FACE_CHECKS, FACE_PROBLEMS
from palprep.errors import (
    DamagedMedia,
    MediaError,
    OutputUnwritable,
    PalprepError,
    UnsupportedMedia,
)
from palprep.media.sources import type_of
from palprep.sandbox.answers import Refused, refuse_error
from palprep.sandbox.choices import bad_fields, image_error
from palprep.sandbox.outbound import announce, download
from palprep.sandbox.seed import KINDS
from palprep.sandbox.service import SENT, HandlerContext, Recognise, Service, TrainingKind, shown
from palprep.sandbox.store import Record, new_id
from palprep.workers import WorkStopped

log = logging.getLogger(__name__)

MIN_IMAGE_BYTES = 1024
"""The default judge takes images of this size or more."""


def judge_by_bytes(path: Path, model: str) -> dict[str, bool | None]:  # noqa: ARG001
    """The default judge: one check, of the size. Files that are no images were refused before."""
    return {"image_quality_acceptable": path.stat().st_size >= MIN_IMAGE_BYTES}


async def validate_face(
    context: HandlerContext, *, pose_key: str = "pose_suitable_for_face"
) -> dict[str, Any]:
    """The verdict, without checks that were not measured. Its details have the pose under
    ``pose_key``."""
    outcomes = await asyncio.to_thread(
        _judge,
        context.service,
        context.request.image_base64,
        context.sent.get("mimeType", "image/jpeg"),
        context.sent.get("model", "core-4"),
    )
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


def _judge(
    service: Service, image_base64: str, mime_type: str, model: str
) -> Mapping[str, bool | None]:
    """The judge's outcome of each check. It runs in a thread. Raises :class:`Refused`."""
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
        except WorkStopped:
            why = "Whoever judged the image was ended: the sandbox is ending, or ask again."
            raise refuse_error(503, why) from None
        except MediaError as error:
            raise Refused(image_error("undecodable_image").answer(error.message)) from error
    left_out = service.choices.checks_left_out.get(model, ())
    return {check: passed for check, passed in outcomes.items() if check not in left_out}


# Create Voice: "Accepted file types", and as formats; the videos among them train replicas too.
VOICE_EXTENSIONS = (".mp3", ".wav", ".m4a", ".flac", ".ogg", ".oga", ".webm", ".mp4", ".mov")
TRAINED_FROM = frozenset(each.removeprefix(".") for each in VOICE_EXTENSIONS)
Trained = Literal["voice", "replica"]
LONGEST_SUFFIX = len(".jpeg")


def train_by_bytes(
    kind: TrainingKind, paths: tuple[Path, ...], *, recognise: Recognise = type_of
) -> str | None:
    """The default trainer: every file must start like media of its kind."""
    for path in paths:
        found = recognise(path)
        if kind.startswith("replica-image"):
            if found.format not in {"jpeg", "png"}:
                return "The training image is neither JPEG nor PNG."
        elif found.format not in TRAINED_FROM:
            return "The file is not a recording or video of an accepted type."
    return None


_AGAIN_S = 1.0
"""Real seconds until a training goes on after its worker was ended."""


async def train(service: Service, job: Record, *, kind: Trained) -> None:
    """Fetch the media of a voice or a replica, train, and end the training."""
    record_id = job[f"{kind}_id"]
    record = _in_training(service, kind, record_id)
    if record is not None and SENT in record:  # A seeded record has no media.
        while True:
            try:
                problem = await _problem(service, record[SENT])
            except WorkStopped:
                # If the sandbox is ending too, the job stays and runs at the next start. Otherwise
                # the system or the user has ended only the worker.
                await asyncio.sleep(_AGAIN_S)
                log.warning("A worker was ended at the training of %s, which goes on", record_id)
            else:
                _end_training(service, kind, record_id, problem)
                return


def end_by_hand(service: Service, record_id: str, error_message: str | None) -> Record | None:
    """End the training of a voice or a replica. Returns its record, None if this id is not in
    training."""
    ended = (_end_training(service, kind, record_id, error_message) for kind in get_args(Trained))
    return next(filter(None, ended), None)


def _in_training(service: Service, kind: Trained, record_id: str) -> Record | None:
    record = service.store.get(kind, record_id)
    return record if record is not None and record["status"] == "started" else None


def _end_training(
    service: Service, kind: Trained, record_id: str, problem: str | None
) -> Record | None:
    """Mark the training as completed, or as in error with the ``problem``, and announce it in the
    same transaction. Returns the record, None if the training had ended."""
    with service.store.transaction():
        # Read again: it may have been updated, ended by hand or removed since.
        record = _in_training(service, kind, record_id)
        if record is None:
            return None
        record["status"] = "completed" if problem is None else "error"
        if problem is not None:
            record["error_message"] = problem
        service.store.put(kind, record_id, record)
        members = (f"{kind}_id", f"{kind}_name", "status", "error_message")
        announce(
            service,
            kind,
            record.get(SENT, {}).get("callback_url"),
            {name: record[name] for name in members if name in record},
        )
    return shown(record)


async def _problem(service: Service, sent: Record) -> str | None:
    """Why training failed, None if it succeeded. ``sent`` names a recording, or a video and perhaps
    a consent video, or an image. Raises WorkStopped when the worker was ended, and OutputUnwritable
    when the disk is full."""
    kind: TrainingKind
    if url := sent.get("training_audio_url"):
        kind, urls = "voice", [url]
    elif url := sent.get("train_image_url"):
        fixed = sent.get("auto_fix_training_image")
        kind, urls = "replica-image-auto-fix" if fixed else "replica-image", [url]
    elif url := sent.get("train_video_url"):
        kind, urls = "replica-video", [url, *filter(None, [sent.get("consent_video_url")])]
    else:
        return "No file was sent to train from."  # A choice may require none.
    with TemporaryDirectory(dir=service.scratch) as folder:
        try:
            paths = [
                await _fetched(service, kind, url, Path(folder) / f"media-{number}")
                for number, url in enumerate(urls)
            ]
            return await asyncio.to_thread(service.trainer, kind, tuple(paths))
        except WorkStopped:
            raise
        except PalprepError as error:
            if isinstance(error, OutputUnwritable) and error.disk_full:
                raise  # No fault of the file: the training goes on when there is room.
            return error.message
        except Exception as error:
            # The trainer is the caller's code. When it fails, the training must still end.
            log.exception("The sandbox's trainer failed on %s", kind)
            return f"Training failed: {type(error).__name__}: {error}"


async def _fetched(service: Service, kind: TrainingKind, url: str, stem: Path) -> Path:
    """Fetch the file at ``url``. Its suffix is the link's, or follows from its content if the link
    has none. Raises a PalprepError if it cannot be fetched, or its type is not accepted."""
    suffix = PurePosixPath(unquote(urlsplit(url).path)).suffix.lower()
    if not suffix[1:].isalnum() or len(suffix) > LONGEST_SUFFIX:
        suffix = ""
    if kind == "voice" and suffix and suffix not in VOICE_EXTENSIONS:
        raise _not_accepted(suffix)
    path = stem.with_suffix(suffix)
    await download(service, url, path)
    if suffix:
        return path
    found = await asyncio.to_thread(service.recognise, path)
    if kind == "voice" and found.format not in TRAINED_FROM:
        raise _not_accepted(f"({found.description})")
    return path.rename(path.with_suffix(next(iter(found.extensions), "")))


def _not_accepted(what: str) -> UnsupportedMedia:
    return UnsupportedMedia(
        f"The file type {what} is not accepted; accepted are {', '.join(VOICE_EXTENSIONS)}."
    )


def create_voice(context: HandlerContext) -> Record:
    choices, sent = context.service.choices, context.sent
    if not context.key.user_scoped:
        raise refuse_error(
            choices.unscoped_key_status, "Creating voices requires a user-scoped API key."
        )
    missing = [field for field in choices.required_voice_fields if field not in sent]
    if missing:
        raise bad_fields(choices, dict.fromkeys(missing, "is required"))
    return _started(context, "voice", choices.voice_seconds, "description", "tags")


def _started(context: HandlerContext, kind: Trained, training_s: float, *members: str) -> Record:
    """Create the record of a training, with those of these ``members`` that were sent, and schedule
    its end."""
    service, sent = context.service, context.sent
    record_id = new_id(kind[0])
    own = {f"{kind}_id": record_id, "status": "started"}
    own |= {name: sent[name] for name in (f"{kind}_name", *members) if name in sent}
    record = KINDS[f"{kind}s"].completed(own, service.stamp())
    service.store.create(kind, record_id, record | {SENT: sent})
    service.store.schedule(service.now() + training_s, kind, {f"{kind}_id": record_id})
    return record


def update_voice(context: HandlerContext) -> Record:
    record = {**context.find("voice"), **context.sent}
    context.service.store.put("voice", record["voice_id"], record)
    return shown(record)


def list_voices(context: HandlerContext) -> dict[str, list[Record]]:
    tag = context.request.tag
    voices = context.service.store.all("voice")
    return {"data": [shown(v) for v in voices if tag is UNSET or tag in v.get("tags", ())]}


def create_replica(context: HandlerContext) -> Record:
    choices, sent = context.service.choices, context.sent
    if not sent.keys() & {"train_video_url", "train_image_url"}:
        problem = "is required unless train_image_url is sent"
        raise bad_fields(choices, {"train_video_url": problem})
    voice_name = sent.get("voice_name")
    stock = {name.lower() for name in choices.stock_voices}
    if voice_name is not None and voice_name.lower() not in stock:
        problem = f"is not a stock voice; there are {', '.join(choices.stock_voices)}"
        raise bad_fields(choices, {"voice_name": problem})
    record = _started(context, "replica", choices.replica_seconds, "model_name")
    return {name: record[name] for name in ("replica_id", "status")}
