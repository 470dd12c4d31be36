"""Requests as they came, so that what they made can be made again in another sandbox."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import Base64Bytes, Field, TypeAdapter, ValidationError

from palprep.errors import UsageError
from palprep.values import Value


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


_RECORDING: TypeAdapter[Recording] = TypeAdapter(Recording)


def parse_recording(content: object) -> Recording:
    """A recording from parsed JSON. Raises :class:`~palprep.errors.UsageError`."""
    try:
        return _RECORDING.validate_python(content)
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

    def __init__(self, new_id: Callable[[str], str]) -> None:
        self._new_id = new_id
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
        """A new id; in a replay the one that was given at that time."""
        given = self._known.popleft() if self._known else self._new_id(prefix)
        if self.keeping:
            self._ids.append(given)
        return given

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
