"""What was asked and sent: the log, kept with the records themselves."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from palprep.api import json_value, redact
from palprep.sandbox.answers import JsonAnswer
from palprep.sandbox.faults import RequestFault
from palprep.sandbox.service import ApiKey
from palprep.sandbox.store import Store

KEPT = 50_000
"""Requests, and so many callbacks."""
TRIMMED_EVERY = 1000
"""Requests: how many more there may be."""
SHOWN_BYTES = 64 * 1024
"""Of a larger body only the size is shown."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request to an endpoint as it came in. ``body`` is None when it is too large, ``key`` when
    it is missing or wrong."""

    endpoint: str
    request: Request
    body: bytes | None
    key: ApiKey | None
    fault: RequestFault | None
    cleared: int
    """How often the store had been cleared when it came: who is answered later asked then."""


def note_request(
    store: Store, at: float, arrival: Arrival, answer: JsonAnswer | None
) -> int | None:
    """Write one line; its number. Secrets are not written, and to a disk no addresses."""
    fault, whole = arrival.fault, not store.on_disk
    told = {
        "headers": redact(dict(arrival.request.headers), addresses=whole),
        "answer_headers": dict(answer.headers) if answer else None,
        "answer": redact(answer.body, addresses=whole) if answer else None,
    }
    exchange = json.dumps(told)
    if len(exchange) > SHOWN_BYTES:
        exchange = json.dumps(told | {"answer": f"<{len(exchange)} bytes>"})
    line = store.execute(
        "INSERT INTO requests (at, method, path, endpoint, key, status, fault, body, exchange)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            at,
            arrival.request.method,
            arrival.request.scope["path"],
            arrival.endpoint,
            arrival.key.scope if arrival.key else None,
            answer.status if answer else None,
            fault.model_dump_json(exclude_defaults=True) if fault else None,
            json.dumps(_shown(arrival.body, addresses=whole)) if arrival.body else None,
            exchange,
        ),
    )
    if line.lastrowid and line.lastrowid % TRIMMED_EVERY == 0:
        trim(store)
    return line.lastrowid


def _shown(body: bytes, *, addresses: bool) -> Any:
    if len(body) > SHOWN_BYTES:
        return f"<{len(body)} bytes>"
    try:
        return redact(json_value(body), addresses=addresses)
    except ValueError:
        return f"<{len(body)} bytes, not JSON>"


def trim(store: Store) -> None:
    """Delete the oldest requests and callbacks: neither memory nor a folder grows for ever."""
    for table in ("requests", "deliveries"):
        sql = f"DELETE FROM {table} WHERE seq <= (SELECT max(seq) FROM {table}) - ?"  # noqa: S608
        store.execute(sql, (KEPT,))


async def show_log(store: Store, *, addresses: bool) -> dict[str, Any]:
    """``{requests, callbacks, creates}``: what was served and sent, oldest first, and how many
    records of each kind were created through the interface. ``addresses`` shows links that
    requests and answers hold as they are, where they are known."""
    requests = _rows(store, "SELECT * FROM requests ORDER BY seq", parsed="body")
    for each in requests:
        told = json.loads(each.pop("exchange") or "{}")
        each |= {name: told.get(name) for name in ("headers", "answer_headers", "answer")}
        if not addresses:
            each |= {name: redact(each[name]) for name in ("headers", "body", "answer")}
    return {
        "requests": requests,
        "callbacks": _rows(
            store,
            "SELECT seq, at, kind AS event, url, body AS payload, attempt, status, error"
            " FROM deliveries ORDER BY seq",
            parsed="payload",
        ),
        "creates": store.creates(),
    }


def _rows(store: Store, sql: str, *, parsed: str) -> list[dict[str, Any]]:
    """Every row with its columns' names; the column ``parsed`` holds JSON, or NULL."""
    rows = map(dict, store.execute(sql))
    return [row | {parsed: row[parsed] and json.loads(row[parsed])} for row in rows]
