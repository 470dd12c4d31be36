"""Voices: created as started, trained by the clock, read and updated at any time."""

from __future__ import annotations

from palprep.api.wire import UNSET
from palprep.sandbox.answers import JsonAnswer, bad_fields, refuse_error
from palprep.sandbox.handler import HandlerContext
from palprep.sandbox.shown import shown
from palprep.sandbox.store import Record


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
    service.store.create("voice", voice_id, record)
    service.store.put_private("voice", voice_id, sent)
    due = service.now() + choices.voice_seconds
    service.store.schedule(due, "voice", {"voice_id": voice_id})
    return JsonAnswer(choices.created_status, record)


def get_voice(context: HandlerContext) -> JsonAnswer:
    """The record with its current status."""
    return JsonAnswer(body=shown(_find(context)))


def update_voice(context: HandlerContext) -> JsonAnswer:
    """Change what was sent; an absent member stays, a null description is cleared."""
    record = {**_find(context), **context.sent}
    context.service.store.put("voice", record["voice_id"], record)
    return JsonAnswer(body=shown(record))


def list_voices(context: HandlerContext) -> JsonAnswer:
    """All voices, or those with one tag, oldest first."""
    tag = context.request.tag
    voices = context.service.store.all("voice")
    return JsonAnswer(
        body={"data": [shown(v) for v in voices if tag is UNSET or tag in v.get("tags", ())]}
    )


def _find(context: HandlerContext) -> Record:
    record = context.service.store.get("voice", context.request.voice_id)
    if record is None:
        raise refuse_error(context.service.choices.not_found_status, "Voice not found.")
    return record
