"""Records as the interface shows them."""

from __future__ import annotations

from collections.abc import Collection

from palprep.sandbox.store import Record


def shown(record: Record, hidden: Collection[str] = ()) -> Record:
    """``record`` without the ``hidden`` members; an error message only with status ``error``."""
    left_out = set(hidden)
    if record.get("status") != "error":
        left_out.add("error_message")
    return {name: value for name, value in record.items() if name not in left_out}
