"""The log of requests and callbacks, in the same database as the records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from starlette.requests import Request

from palprep.api import json_value, redact
from palprep.sandbox.answers import JsonAnswer
from palprep.sandbox.faults import RequestFault
from palprep.sandbox.service import ApiKey
from palprep.sandbox.store import Store

KEPT = 100_000
"""Lines of the log that are kept."""
TRIMMED_EVERY = 1000
"""Lines that there may be beyond these."""
SHOWN_BYTES = 64 * 1024
"""A larger body is logged by its size."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request to an endpoint as it arrived. ``body`` is None if it was too large, and ``key`` if
    it was missing or wrong."""

    endpoint: str
    request: Request
    body: bytes | None
    key: ApiKey | None
    fault: RequestFault | None
    cleared: int
    """How often the store had been cleared when the request arrived."""


def note_request(
    store: Store, at: float, arrival: Arrival, answer: JsonAnswer | None
) -> int | None:
    """Log a request, and return the number of its line. Secrets are masked; so are links if the log
    is on disk."""
    fault, whole = arrival.fault, not store.on_disk
    answered = redact(answer.body, addresses=whole) if answer else None
    size = len(json.dumps(answered))
    line = {
        "method": arrival.request.method,
        "path": arrival.request.scope["path"],
        "endpoint": arrival.endpoint,
        "key": arrival.key.scope if arrival.key else None,
        "status": answer.status if answer else None,
        "fault": fault.model_dump_json(exclude_defaults=True) if fault else None,
        "body": _shown(arrival.body, addresses=whole) if arrival.body else None,
        "headers": redact(dict(arrival.request.headers), addresses=whole),
        "answer_headers": dict(answer.headers) if answer else None,
        "answer": answered if size <= SHOWN_BYTES else f"<{size} bytes>",
    }
    return note(store, "request", at, line)


def note(
    store: Store, kind: Literal["request", "callback"], at: float, told: Mapping[str, Any]
) -> int | None:
    values = (at, kind, json.dumps(told))
    number = store.execute("INSERT INTO log (at, kind, told) VALUES (?, ?, ?)", values).lastrowid
    if number and number % TRIMMED_EVERY == 0:
        trim(store)
    return number


def _shown(body: bytes, *, addresses: bool) -> Any:
    if len(body) > SHOWN_BYTES:
        return f"<{len(body)} bytes>"
    try:
        return redact(json_value(body), addresses=addresses)
    except ValueError:
        return f"<{len(body)} bytes, not JSON>"


def trim(store: Store) -> None:
    """Delete the oldest lines: neither memory nor a folder grows for ever."""
    store.execute("DELETE FROM log WHERE seq <= (SELECT max(seq) FROM log) - ?", (KEPT,))


async def show_log(store: Store, *, addresses: bool) -> dict[str, Any]:
    """``{requests, callbacks, creates}``: requests served and callbacks sent, oldest first, and the
    number of records of each kind that the interface created. With ``addresses`` links in requests
    and answers are not masked, unless the log is on disk."""
    lines: dict[str, list[dict[str, Any]]] = {"request": [], "callback": []}
    for seq, at, kind, told in store.execute("SELECT seq, at, kind, told FROM log ORDER BY seq"):
        lines[kind].append({"seq": seq, "at": at, **json.loads(told)})
    for each in () if addresses else lines["request"]:
        each |= {name: redact(each[name]) for name in ("headers", "body", "answer")}
    return {
        "requests": lines["request"],
        "callbacks": lines["callback"],
        "creates": store.creates(),
    }
