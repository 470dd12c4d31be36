"""The log of requests served and deliveries sent, kept with the records themselves."""

from __future__ import annotations

import json
from typing import Any

from palprep.sandbox.store import Store

KEPT_REQUESTS = 50_000


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
) -> int | None:
    """One line; its number. Neither bodies nor keys are written; ``key`` is the key's scope."""
    line = store.execute(
        "INSERT INTO requests (at, method, path, endpoint, key, status, fault)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (at, method, path, endpoint, key, status, fault),
    )
    return line.lastrowid


def trim(store: Store) -> None:
    """Delete the oldest requests, so that a data folder does not grow for ever."""
    store.execute(
        "DELETE FROM requests WHERE seq <= (SELECT max(seq) FROM requests) - ?", (KEPT_REQUESTS,)
    )


def show_log(store: Store) -> dict[str, Any]:
    """``{requests, callbacks, creates}``: what was served and sent, oldest first, and how many
    records of each kind were created through the interface."""
    requests = store.execute(
        "SELECT seq, at, method, path, endpoint, key, status, fault FROM requests ORDER BY seq"
    )
    deliveries = store.execute(
        "SELECT seq, at, kind, url, body, attempt, status, error FROM deliveries ORDER BY seq"
    )
    return {
        "requests": [
            dict(
                zip(
                    ("seq", "at", "method", "path", "endpoint", "key", "status", "fault"),
                    row,
                    strict=True,
                )
            )
            for row in requests
        ],
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
