"""Voices: created as started, settled by training, updated and read in between."""

from __future__ import annotations

from palprep.api.wire import UNSET
from palprep.sandbox.answers import Answer, bad_fields, refuse_error
from palprep.sandbox.call import Call
from palprep.sandbox.store import Record


def create_voice(call: Call) -> Answer:
    """Record a voice as started and schedule its training; user-scoped keys only."""
    service, choices, sent = call.service, call.service.choices, call.sent
    if not call.key.user_scoped:
        raise refuse_error(
            choices.unscoped_key_status, "Creating voices requires a user-scoped API key."
        )
    missing = [field for field in choices.required_voice_fields if field not in sent]
    if missing:
        raise bad_fields(choices.bad_request_status, dict.fromkeys(missing, "is required"))
    voice_id = service.new_id("v")
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
    return Answer(choices.created_status, record)


def get_voice(call: Call) -> Answer:
    """The record with its current status."""
    return Answer(body=_find(call))


def update_voice(call: Call) -> Answer:
    """Change what was sent; an absent member stays, a null description is cleared."""
    record = {**_find(call), **call.sent}
    call.service.store.put("voice", record["voice_id"], record)
    return Answer(body=record)


def list_voices(call: Call) -> Answer:
    """All voices, or those with one tag, oldest first."""
    tag = call.request.tag
    voices = call.service.store.all("voice")
    return Answer(body={"data": [v for v in voices if tag is UNSET or tag in v.get("tags", ())]})


def _find(call: Call) -> Record:
    record = call.service.store.get("voice", call.request.voice_id)
    if record is None:
        raise refuse_error(call.service.choices.not_found_status, "Voice not found.")
    return record
