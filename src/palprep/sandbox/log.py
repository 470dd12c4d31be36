"""What was asked and sent: the log, kept with the records themselves, and recordings.

A recording holds requests as they came, so that what they made can be made again in another
sandbox.
"""

from __future__ import annotations

import json
import secrets
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Base64Bytes, Field
from starlette.requests import Request

from palprep.api import json_value, redact
from palprep.sandbox.faults import JsonFile
from palprep.sandbox.store import Store
from palprep.values import Value

if TYPE_CHECKING:
    from palprep.sandbox.answers import JsonAnswer
    from palprep.sandbox.faults import RequestFault
    from palprep.sandbox.service import ApiKey

KEPT_REQUESTS = 50_000
SHOWN_BYTES = 64 * 1024
"""Of a larger body only the size is shown."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request to an endpoint as it came in. ``path`` is decoded; ``body`` is None when it is too
    large, ``key`` when it is missing or wrong."""

    endpoint: str
    path: str
    request: Request
    body: bytes | None
    key: ApiKey | None
    fault: RequestFault | None
    cleared: int
    """How often the store had been cleared when it came: who is answered later asked then."""

    @property
    def scope(self) -> str | None:
        """That of the key, for the log: keys are not written."""
        return self.key.scope if self.key else None


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
            arrival.path,
            arrival.endpoint,
            arrival.scope,
            answer.status if answer else None,
            fault.model_dump_json(exclude_defaults=True) if fault else None,
            json.dumps(_shown(arrival.body, addresses=whole)) if arrival.body else None,
            exchange,
        ),
    )
    return line.lastrowid


def _shown(body: bytes, *, addresses: bool) -> Any:
    """The body as JSON without its secrets, or only its size."""
    if len(body) > SHOWN_BYTES:
        return f"<{len(body)} bytes>"
    try:
        return redact(json_value(body), addresses=addresses)
    except (ValueError, RecursionError):
        return f"<{len(body)} bytes, not JSON>"


def trim(store: Store) -> None:
    """Delete the oldest requests, so that a data folder does not grow for ever."""
    store.execute(
        "DELETE FROM requests WHERE seq <= (SELECT max(seq) FROM requests) - ?", (KEPT_REQUESTS,)
    )


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
    found = store.execute(sql)
    names = [column[0] for column in found.description]
    rows = [dict(zip(names, row, strict=True)) for row in found]
    return [row | {parsed: row[parsed] and json.loads(row[parsed])} for row in rows]


class RecordedRequest(Value):
    """One request to an endpoint. ``after_s`` is the time since the one before it, in seconds
    of the sandbox's clock; ``ids`` are those that it was given, in order."""

    after_s: Annotated[float, Field(ge=0)]
    method: str
    target: str
    """Path and query, percent-encoded."""
    key: str | None
    """The scope of its key: ``user``, ``service``, or None for a wrong one."""
    if_match: str | None = None
    body: Base64Bytes = b""
    ids: tuple[str, ...] = ()


class Recording(JsonFile):
    """Everything that was asked, first to last. Its bodies hold what was sent, secrets too."""

    called = "recording"

    requests: tuple[RecordedRequest, ...] = ()


class Recorder:
    """Gives out ids, and keeps requests from :meth:`start` on."""

    def __init__(self) -> None:
        self._known: deque[str] = deque()
        self._kept: list[RecordedRequest] | None = None
        self._ids: list[str] = []
        self._last = 0.0

    @property
    def recording(self) -> Recording:
        """What was kept so far; empty before :meth:`start`."""
        return Recording(requests=tuple(self._kept or ()))

    def start(self, now: float | None) -> None:
        """Forget what was kept, and keep requests from now on; with None, none."""
        self._kept, self._ids, self._last = None if now is None else [], [], now or 0.0

    def new_id(self, prefix: str) -> str:
        """An opaque id that no one can guess; in a replay the one that was given out then."""
        new = self._known.popleft() if self._known else prefix + secrets.token_hex(6)
        if self._kept is not None:
            self._ids.append(new)
        return new

    def expect(self, ids: tuple[str, ...]) -> None:
        self._known = deque(ids)

    def keep(self, now: float, arrival: Arrival) -> None:
        """Keep a request that has just been answered, with the ids given out meanwhile, since
        :meth:`start`."""
        if self._kept is None:
            return
        ids, self._ids = tuple(self._ids), []
        query = arrival.request.scope["query_string"]
        target = arrival.request.scope["raw_path"] + (b"?" + query if query else b"")
        self._kept.append(
            RecordedRequest.model_construct(
                after_s=now - self._last,
                method=arrival.request.method,
                target=target.decode("ascii"),
                key=arrival.scope,
                if_match=arrival.request.headers.get("if-match"),
                body=arrival.body or b"",
                ids=ids,
            )
        )
        self._last = now
