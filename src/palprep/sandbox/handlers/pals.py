"""PALs: their complete set of skills, and deleting them."""

from __future__ import annotations

from palprep.sandbox.answers import Answer, refuse_error
from palprep.sandbox.call import Call
from palprep.sandbox.store import Record


def replace_skills(call: Call) -> Answer:
    """Set the complete skills of a PAL; those that are absent are detached."""
    pal = _find(call)
    skills = {
        name: {"config": dict(entry.get("config", {}))}
        for name, entry in call.sent["skills"].items()
    }
    call.service.store.put("pal", pal["pal_id"], pal | {"skills": skills})
    return Answer(body={"data": skills})


def delete_pal(call: Call) -> Answer:
    """Delete one PAL."""
    call.service.store.delete("pal", _find(call)["pal_id"])
    return Answer(call.service.choices.deleted_status)


def _find(call: Call) -> Record:
    pal = call.service.store.get("pal", call.request.pal_id)
    if pal is None:
        raise refuse_error(call.service.choices.invalid_id_status, "Invalid pal_id.")
    return pal
