"""Conversations: started only when the voice can speak."""

from __future__ import annotations

from palprep.sandbox.answers import JsonAnswer, bad_fields, refuse_error
from palprep.sandbox.conversations import voice_problem
from palprep.sandbox.handler import HandlerContext
from palprep.sandbox.service import Service
from palprep.sandbox.store import Record


def create_conversation(context: HandlerContext) -> JsonAnswer:
    """Start a conversation whose voice and face are ready, and schedule its end."""
    service, choices, sent = context.service, context.service.choices, context.sent
    pal, face = _pal(service, sent.get("pal_id")), _face(service, sent.get("face_id"))
    if pal is None and face is None:
        raise bad_fields(
            choices.bad_request_status, {"pal_id": "One of pal_id and face_id is required."}
        )
    for voice_id in (_pal_voice(pal or {}), (face or {}).get("default_voice_id")):
        problem = voice_problem(service, voice_id)
        if problem is not None:
            raise refuse_error(choices.bad_request_status, problem)
    conversation_id = service.recorder.new_id("c")
    record: Record = {
        **sent,
        "conversation_id": conversation_id,
        "conversation_name": sent.get("conversation_name"),
        "conversation_url": f"{service.base_url}/conversations/{conversation_id}",
        "status": "active",
        "pal_id": sent.get("pal_id"),
        "face_id": sent.get("face_id"),
        "created_at": service.stamp(),
    }
    service.store.create("conversation", conversation_id, record)
    due = service.now() + choices.conversation_seconds
    service.store.schedule(due, "conversation", {"conversation_id": conversation_id})
    return JsonAnswer(choices.created_status, record)


def _pal(service: Service, pal_id: str | None) -> Record | None:
    pal = service.store.get("pal", pal_id) if pal_id else None
    if pal_id and pal is None:
        raise refuse_error(service.choices.invalid_id_status, "Invalid pal_id.")
    return pal


def _pal_voice(pal: Record) -> str | None:
    layers = pal.get("layers") or {}
    return (layers.get("tts") or {}).get("voice_id")


def _face(service: Service, face_id: str | None) -> Record | None:
    if not face_id:
        return None
    face = service.store.get("face", face_id)
    replica = service.store.get("replica", face_id)
    if face is None and replica is None:
        raise refuse_error(service.choices.invalid_id_status, "Invalid face_id.")
    if replica is not None and replica["status"] != "completed":
        raise refuse_error(
            service.choices.bad_request_status,
            f"The face {face_id} is not ready: its status is {replica['status']}.",
        )
    return face or replica
