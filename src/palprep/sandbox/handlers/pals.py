"""PALs: their complete set of skills, and deleting them."""

from __future__ import annotations

from palprep.sandbox.answers import JsonAnswer, refuse_error
from palprep.sandbox.handler import HandlerContext
from palprep.sandbox.store import Record


def replace_skills(context: HandlerContext) -> JsonAnswer:
    """Set the complete skills of a PAL; those that are absent are detached."""
    pal = _find(context)
    skills = {
        name: {"config": dict(entry.get("config", {}))}
        for name, entry in context.sent["skills"].items()
    }
    context.service.store.put("pal", pal["pal_id"], pal | {"skills": skills})
    return JsonAnswer(body={"data": skills})


def delete_pal(context: HandlerContext) -> JsonAnswer:
    """Delete one PAL."""
    context.service.store.delete("pal", _find(context)["pal_id"])
    return JsonAnswer(context.service.choices.deleted_status)


def _find(context: HandlerContext) -> Record:
    pal = context.service.store.get("pal", context.request.pal_id)
    if pal is None:
        raise refuse_error(context.service.choices.invalid_id_status, "Invalid pal_id.")
    return pal
