"""What the entries of journal version 1 mean in this version.

Version 1 kept untyped bodies. What they say of creations and of consent dossiers is read and
honoured. What they say of a run's own work is not: such an entry becomes a
:class:`~palprep.journal.entries.Former`, and the work is done again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from palprep.errors import JournalError
from palprep.journal.entries import (
    Body,
    CalledBack,
    Created,
    DossierKept,
    Doubt,
    Former,
    Intent,
    NotCreated,
    Polled,
    Resolved,
)
from palprep.journal.results import Snapshot

READ: Mapping[str, type[Body]] = {
    "intent": Intent,
    "created": Created,
    "refused": NotCreated,
    "unsent": NotCreated,
    "unknown": Doubt,
    "status": Polled,
    "callback": CalledBack,
    "settled": Resolved,
    "dossier": DossierKept,
}
"""The class that each kind of version 1 became, where it is read at all."""


def read_body(kind: str, data: Mapping[str, Any]) -> Body:
    """The body of an entry of version 1.

    Raises JournalError for knowledge of a creation that cannot be read.
    """
    try:
        return _read(kind, data)
    except (ValidationError, KeyError):
        raise JournalError(
            f"The journal holds an entry {kind!r} of an older palprep that this one cannot read. "
            "What it says of a creation must not be lost: use the palprep that wrote it"
        ) from None


def _read(kind: str, data: Mapping[str, Any]) -> Body:
    match READ.get(kind):
        case None:
            return Former(was=kind)
        case body if body in {Created, Polled}:
            return body.model_validate({"snapshot": dict(data)})
        case body if body is CalledBack:
            told = {name: value for name, value in data.items() if name != "received"}
            snapshot = Snapshot.model_validate(told) if told else None
            return CalledBack(snapshot=snapshot, received=data.get("received"))
        case body if body is Resolved:
            return Resolved(found_id=data["id"] if data["decision"] == "found" else None)
        case body:
            return body.model_validate(dict(data))
