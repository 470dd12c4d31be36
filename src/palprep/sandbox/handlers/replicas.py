"""Replicas: trained from a video or an image, answered before training begins."""

from __future__ import annotations

from palprep.sandbox.answers import JsonAnswer, bad_fields, refuse_error
from palprep.sandbox.handler import HandlerContext
from palprep.sandbox.shown import shown
from palprep.sandbox.store import Record


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
    service.store.create("replica", replica_id, record)
    service.store.put_private("replica", replica_id, sent)
    due = service.now() + choices.replica_seconds
    service.store.schedule(due, "replica", {"replica_id": replica_id})
    return JsonAnswer(choices.created_status, {"replica_id": replica_id, "status": "started"})


def get_replica(context: HandlerContext) -> JsonAnswer:
    """The record with its training status."""
    record = context.service.store.get("replica", context.request.replica_id)
    if record is None:
        raise refuse_error(context.service.choices.not_found_status, "Replica not found.")
    return JsonAnswer(body=shown(record))
