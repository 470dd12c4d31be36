"""Outbound callbacks: written down with the change that they announce, then posted until taken."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx

from palprep.sandbox.clock import SandboxClock
from palprep.sandbox.faults import CALLBACK_EVENTS, Faults
from palprep.sandbox.fetch import UNASKABLE
from palprep.sandbox.store import Record, Store

TIMEOUT_S = 10.0
LOST = "lost, as the fault script says"


class CallbackOutbox:
    """The callbacks that the sandbox still has to send.

    Call ``announce`` inside the transaction of the change itself: a killed sandbox has then
    done both or neither.
    """

    def __init__(
        self,
        *,
        store: Store,
        clock: SandboxClock,
        faults: Faults,
        http: httpx.AsyncClient,
        retry_seconds: tuple[float, ...],
    ) -> None:
        self._store = store
        self._clock = clock
        self._faults = faults
        self._http = http
        self._retry_seconds = retry_seconds

    def announce(self, event: str, url: str | None, payload: Mapping[str, Any]) -> None:
        """Schedule the POST of ``payload`` to ``url``, if there is one."""
        if url is None:
            return
        fault = self._faults.for_callback(event)
        copies, late = (fault.copies, fault.late) if fault else (1, 0.0)
        if copies == 0:
            self.record(event, url, payload, attempt=0, status=None, problem=LOST)
        for _ in range(copies):
            job = {"event": event, "url": url, "payload": dict(payload), "attempt": 1}
            self._store.schedule(self._clock.now() + late, "callback", job)

    def send_again(self, number: int) -> bool:
        """Schedule the delivery ``number`` of the log once more, whatever the faults say; False
        when no callback has this number."""
        row = self._store.execute(
            "SELECT kind, url, body FROM deliveries WHERE seq = ?", (number,)
        ).fetchone()
        if row is None or row[0] not in CALLBACK_EVENTS:
            return False
        job = {"event": row[0], "url": row[1], "payload": json.loads(row[2]), "attempt": 1}
        self._store.schedule(self._clock.now(), "callback", job)
        return True

    async def deliver(self, job: Record) -> None:
        """One attempt, logged; schedules the next one unless it was taken with a 2xx."""
        status, problem = await self._post(job["url"], job["payload"])
        attempt = job["attempt"]
        with self._store.transaction():
            self.record(
                job["event"],
                job["url"],
                job["payload"],
                attempt=attempt,
                status=status,
                problem=problem,
            )
            taken = status is not None and httpx.codes.is_success(status)
            if not taken and attempt <= len(self._retry_seconds):
                due = self._clock.now() + self._retry_seconds[attempt - 1]
                self._store.schedule(due, "callback", {**job, "attempt": attempt + 1})

    def record(
        self,
        kind: str,
        url: str,
        payload: Any,
        *,
        attempt: int,
        status: int | None,
        problem: str | None,
    ) -> None:
        """Log one outbound delivery: the answer's status, or why there was none."""
        self._store.execute(
            "INSERT INTO deliveries (at, kind, url, body, attempt, status, error)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (self._clock.now(), kind, url, json.dumps(payload), attempt, status, problem),
        )

    async def _post(self, url: str, payload: Any) -> tuple[int | None, str | None]:
        try:
            async with self._http.stream("POST", url, json=payload, timeout=TIMEOUT_S) as response:
                return response.status_code, None  # no one reads its body
        except UNASKABLE as error:
            return None, str(error) or type(error).__name__
