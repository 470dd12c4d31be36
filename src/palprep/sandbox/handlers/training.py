"""Voices and replicas: created as started, trained by the clock, read and updated at any time.

For a training, the published media are fetched over HTTP and handed to the trainer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Literal
from urllib.parse import unquote, urlsplit

from palprep.api import UNSET, EventName
from palprep.errors import PalprepError, UnsupportedMedia
from palprep.media import Source
from palprep.sandbox.answers import JsonAnswer, bad_fields, refuse_error
from palprep.sandbox.judges import TRAINED_FROM, TrainingKind
from palprep.sandbox.outbound import announce, download
from palprep.sandbox.service import SENT, HandlerContext, Service, shown
from palprep.sandbox.store import Record

log = logging.getLogger(__name__)

# Create Voice: "Accepted file types".
VOICE_EXTENSIONS = (".mp3", ".wav", ".m4a", ".flac", ".ogg", ".oga", ".webm", ".mp4", ".mov")
Trained = Literal["voice", "replica"]
TRAINED: tuple[Trained, ...] = ("voice", "replica")
EVENTS: Mapping[Trained, str] = {
    "voice": EventName.VOICE_STATUS_CHANGED,
    "replica": EventName.REPLICA_STATUS_CHANGED,
}
LONGEST_SUFFIX = len(".jpeg")


async def train_voice(service: Service, job: Record) -> None:
    """Fetch a voice's training audio, train, and end the training: set the status, announce it."""
    voice = _in_training(service, "voice", job["voice_id"])
    if voice is not None:
        url = voice[SENT]["training_audio_url"]
        problem = _extension_problem(service, url) or await _train(service, "voice", [url])
        _end_training(service, "voice", job["voice_id"], problem)


async def train_replica(service: Service, job: Record) -> None:
    """The same for a replica: from its video (and consent video) or from its image."""
    replica = _in_training(service, "replica", job["replica_id"])
    if replica is None:
        return
    sent = replica[SENT]
    if sent.get("train_image_url"):
        problem = await _train(service, "replica-image", [sent["train_image_url"]])
    else:
        urls = [sent["train_video_url"], sent.get("consent_video_url")]
        problem = await _train(service, "replica-video", [url for url in urls if url])
    _end_training(service, "replica", job["replica_id"], problem)


def end_by_hand(service: Service, record_id: str, error_message: str | None) -> Record | None:
    """End the training of a voice or a replica, completed or in error; its record. None when
    nothing of this id is in training."""
    for kind in TRAINED:
        if _in_training(service, kind, record_id):
            return _end_training(service, kind, record_id, error_message)
    return None


def _in_training(service: Service, kind: Trained, record_id: str) -> Record | None:
    record = service.store.get(kind, record_id)
    return record if record is not None and record["status"] == "started" else None


def _end_training(service: Service, kind: Trained, record_id: str, problem: str | None) -> Record:
    """Completed, or in error with the ``problem``; written and announced as one."""
    with service.store.transaction():
        # Read again: the record may have been updated while it was being trained.
        record = service.store.get(kind, record_id) or {}
        record["status"] = "completed" if problem is None else "error"
        if problem is not None:
            record["error_message"] = problem
        service.store.put(kind, record_id, record)
        members = (f"{kind}_id", f"{kind}_name", "status", "error_message")
        announce(
            service,
            EVENTS[kind],
            record.get(SENT, {}).get("callback_url"),
            {name: record[name] for name in members if name in record},
        )
    return shown(record)


async def _train(service: Service, kind: TrainingKind, urls: Sequence[str]) -> str | None:
    """None, or why training failed."""
    with TemporaryDirectory(dir=service.scratch) as folder:
        try:
            # Of a published name only the suffix is kept: it says what the file is.
            paths = [Path(folder) / f"media-{n}{_suffix(url)}" for n, url in enumerate(urls)]
            for url, path in zip(urls, paths, strict=True):
                await asyncio.to_thread(download, service, url, path)
            if kind == "voice" and not _suffix(urls[0]):
                _accepted_content(paths[0])
            return await asyncio.to_thread(service.trainer, kind, tuple(paths))
        except PalprepError as error:
            return error.message
        except Exception as error:
            # The trainer is the caller's code: the training must end even when it fails.
            log.exception("The sandbox's trainer failed on %s", kind)
            return f"Training failed: {type(error).__name__}: {error}"


def _suffix(url: str) -> str:
    suffix = PurePosixPath(unquote(urlsplit(url).path)).suffix.lower()
    return suffix if suffix[1:].isalnum() and len(suffix) <= LONGEST_SUFFIX else ""


def _accepted_content(path: Path) -> None:
    found = Source.of(path).type
    if found.format not in TRAINED_FROM:
        raise UnsupportedMedia(
            f"The training audio is {found.description}; accepted are "
            f"{', '.join(VOICE_EXTENSIONS)}."
        )


def _extension_problem(service: Service, url: str) -> str | None:
    suffix = _suffix(url)
    by_content = not suffix and service.choices.voice_url_without_ending == "content"
    if suffix in VOICE_EXTENSIONS or by_content:
        return None
    return (
        f"The training audio's file type {suffix or 'without an ending'} is not accepted; "
        f"accepted are {', '.join(VOICE_EXTENSIONS)}."
    )


def create_voice(context: HandlerContext) -> JsonAnswer:
    """Record a voice as started and schedule its training; user-scoped keys only."""
    service, choices, sent = context.service, context.service.choices, context.sent
    if not context.key.user_scoped:
        raise refuse_error(
            choices.unscoped_key_status, "Creating voices requires a user-scoped API key."
        )
    missing = [field for field in choices.required_voice_fields if field not in sent]
    if missing:
        raise bad_fields(choices.bad_request_status, dict.fromkeys(missing, "is required"))
    voice_id = service.recorder.new_id("v")
    record: Record = {
        "voice_id": voice_id,
        "voice_name": sent.get("voice_name"),
        "description": sent.get("description"),
        "voice_type": "user",
        "status": "started",
        "tags": sent.get("tags", []),
        "created_at": service.stamp(),
    }
    service.store.create("voice", voice_id, record | {SENT: sent})
    due = service.now() + choices.voice_seconds
    service.store.schedule(due, "voice", {"voice_id": voice_id})
    return JsonAnswer(choices.created_status, record)


def get_voice(context: HandlerContext) -> JsonAnswer:
    """The record with its current status."""
    return JsonAnswer(body=shown(context.find("voice")))


def update_voice(context: HandlerContext) -> JsonAnswer:
    """Change what was sent; an absent member stays, a null description is cleared."""
    record = {**context.find("voice"), **context.sent}
    context.service.store.put("voice", record["voice_id"], record)
    return JsonAnswer(body=shown(record))


def list_voices(context: HandlerContext) -> JsonAnswer:
    """All voices, or those with one tag, oldest first."""
    tag = context.request.tag
    voices = context.service.store.all("voice")
    return JsonAnswer(
        body={"data": [shown(v) for v in voices if tag is UNSET or tag in v.get("tags", ())]}
    )


def create_replica(context: HandlerContext) -> JsonAnswer:
    """Record a replica as started and schedule its training."""
    service, choices, sent = context.service, context.service.choices, context.sent
    if not sent.keys() & {"train_video_url", "train_image_url"}:
        raise bad_fields(
            choices.bad_request_status,
            {"train_video_url": "is required unless train_image_url is sent"},
        )
    voice_name = sent.get("voice_name")
    if voice_name is not None and voice_name.lower() not in choices.stock_voices:
        raise bad_fields(
            choices.bad_request_status,
            {"voice_name": f"is not a stock voice; there are {', '.join(choices.stock_voices)}"},
        )
    replica_id = service.recorder.new_id("r")
    record: Record = {
        "replica_id": replica_id,
        "replica_name": sent.get("replica_name"),
        "model_name": sent.get("model_name", "core-4"),
        "status": "started",
        "created_at": service.stamp(),
    }
    service.store.create("replica", replica_id, record | {SENT: sent})
    due = service.now() + choices.replica_seconds
    service.store.schedule(due, "replica", {"replica_id": replica_id})
    return JsonAnswer(choices.created_status, {"replica_id": replica_id, "status": "started"})


def get_replica(context: HandlerContext) -> JsonAnswer:
    """The record with its training status."""
    return JsonAnswer(body=shown(context.find("replica")))
