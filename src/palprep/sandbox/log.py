"""What was asked and sent: the log, kept with the records themselves, and recordings.

A recording holds requests as they came, so that what they made can be made again in another
sandbox.
"""

from __future__ import annotations

import json
import secrets
from collections import deque
from pathlib import Path
from typing import Annotated, Any

from pydantic import Base64Bytes, Field, ValidationError

from palprep.api import json_value, redact
from palprep.errors import UsageError
from palprep.sandbox.store import Store
from palprep.values import Value

KEPT_REQUESTS = 50_000
SHOWN_BYTES = 64 * 1024
"""Of a larger body only the size is shown."""


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
    """Write one line; its number. ``key`` is the scope of the key. Keys and secrets of the body
    are not written."""
    line = store.execute(
        "INSERT INTO requests (at, method, path, endpoint, key, status, fault, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (at, method, path, endpoint, key, status, fault, _shown(body) if body else None),
    )
    return line.lastrowid


def _shown(body: bytes) -> str:
    """The body as JSON without its secrets, or only its size."""
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
    return {
        "requests": _rows(
            store,
            "SELECT seq, at, method, path, endpoint, key, status, fault, body FROM requests"
            " ORDER BY seq",
            parsed="body",
        ),
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


class Recording(Value):
    """Everything that was asked, first to last. Its bodies hold what was sent, secrets too."""

    requests: tuple[RecordedRequest, ...] = ()


def parse_recording(content: object) -> Recording:
    """A recording from parsed JSON. Raises :class:`~palprep.errors.UsageError`."""
    try:
        return Recording.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"The recording is wrong at {place}: {first['msg']}") from error


def read_recording(path: Path) -> Recording:
    """The recording in a JSON file. Raises :class:`~palprep.errors.UsageError`."""
    try:
        return parse_recording(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise UsageError(f"The recording {path} cannot be used: {error}") from error


class Recorder:
    """Gives out ids, and keeps requests from :meth:`start` on."""

    def __init__(self) -> None:
        self._known: deque[str] = deque()
        self._kept: list[RecordedRequest] | None = None
        self._ids: list[str] = []
        self._last = 0.0

    @property
    def keeping(self) -> bool:
        """Whether requests are kept."""
        return self._kept is not None

    @property
    def recording(self) -> Recording:
        """What was kept so far; empty before :meth:`start`."""
        return Recording(requests=tuple(self._kept or ()))

    def start(self, now: float) -> None:
        """Keep requests from now on, and forget those kept before."""
        self._kept, self._last = [], now

    def stop(self) -> None:
        """Keep nothing any more, and forget what was kept."""
        self._kept, self._ids = None, []

    def new_id(self, prefix: str) -> str:
        """An opaque id that no one can guess; in a replay the one that was given out then."""
        new = self._known.popleft() if self._known else prefix + secrets.token_hex(6)
        if self.keeping:
            self._ids.append(new)
        return new

    def expect(self, ids: tuple[str, ...]) -> None:
        """Give out these ids next."""
        self._known = deque(ids)

    def keep(
        self,
        now: float,
        *,
        method: str,
        target: str,
        key: str | None,
        if_match: str | None,
        body: bytes,
    ) -> None:
        """Keep a request that has just been answered, with the ids given out meanwhile."""
        assert self._kept is not None  # noqa: S101 -- asked by the caller
        ids, self._ids = tuple(self._ids), []
        self._kept.append(
            RecordedRequest.model_construct(
                after_s=now - self._last,
                method=method,
                target=target,
                key=key,
                if_match=if_match,
                body=body,
                ids=ids,
            )
        )
        self._last = now
