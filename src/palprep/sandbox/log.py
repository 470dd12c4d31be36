"""The log of requests served and deliveries sent, kept with the records themselves."""

from __future__ import annotations

import json
from typing import Any

from palprep.api.redact import redact
from palprep.api.strict_json import json_value
from palprep.sandbox.store import Store

KEPT_REQUESTS = 50_000
SHOWN_BYTES = 64 * 1024
"""A larger body is shown by its size alone."""

_REQUEST = ("seq", "at", "method", "path", "endpoint", "key", "status", "fault", "body")


def note_request(
    store: Store,
    *,
    at: float,
    method: str,
    path: str,
    endpoint: str,
    key: str | None,
    status: int | None,
    fault: str | None,
    body: bytes | None,
) -> int | None:
    """One line; its number. Keys are not written, and of the body what may be shown; ``key`` is
    the key's scope."""
    line = store.execute(
        "INSERT INTO requests (at, method, path, endpoint, key, status, fault, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (at, method, path, endpoint, key, status, fault, _shown(body) if body else None),
    )
    return line.lastrowid


def _shown(body: bytes) -> str:
    """As JSON: the body without its secrets, or how large it was."""
    if len(body) > SHOWN_BYTES:
        return json.dumps(f"<{len(body)} bytes>")
    try:
        return json.dumps(redact(json_value(body)))
    except (ValueError, RecursionError):
        return json.dumps(f"<{len(body)} bytes, not JSON>")


def trim(store: Store) -> None:
    """Delete the oldest requests, so that a data folder does not grow for ever."""
    store.execute(
        "DELETE FROM requests WHERE seq <= (SELECT max(seq) FROM requests) - ?", (KEPT_REQUESTS,)
    )


def show_log(store: Store) -> dict[str, Any]:
    """``{requests, callbacks, creates}``: what was served and sent, oldest first, and how many
    records of each kind were created through the interface."""
    requests = store.execute(
        f"SELECT {', '.join(_REQUEST)} FROM requests ORDER BY seq"  # noqa: S608 -- names of our own
    )
    deliveries = store.execute(
        "SELECT seq, at, kind, url, body, attempt, status, error FROM deliveries ORDER BY seq"
    )
    return {
        "requests": [_request(row) for row in requests],
        "callbacks": [
            {
                "seq": row[0],
                "at": row[1],
                "event": row[2],
                "url": row[3],
                "payload": json.loads(row[4]),
                "attempt": row[5],
                "status": row[6],
                "error": row[7],
            }
            for row in deliveries
        ],
        "creates": store.creates(),
    }


def _request(row: tuple[Any, ...]) -> dict[str, Any]:
    shown = dict(zip(_REQUEST, row, strict=True))
    return shown | {"body": None if shown["body"] is None else json.loads(shown["body"])}
