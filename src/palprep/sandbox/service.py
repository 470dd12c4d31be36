"""The parts of a sandbox that handlers and jobs use, and the context of a handler."""

from __future__ import annotations

import math
import ssl
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import httpx

from palprep.api import Rate, calls
from palprep.api.records import is_header_value
from palprep.errors import UsageError
from palprep.media import MediaType
from palprep.sandbox.answers import JsonAnswer, Refused, refuse_error, refuse_message
from palprep.sandbox.choices import Choices
from palprep.sandbox.clock import SandboxClock, stamp
from palprep.sandbox.faults import Faults
from palprep.sandbox.store import Record, Store

USER_KEY = "sandbox-user-key"
SERVICE_KEY = "sandbox-service-key"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """Only ``user_scoped`` keys may create voices. All keys belong to one account. Raises
    UsageError for a key that no header can carry."""

    value: str = field(repr=False)
    user_scoped: bool = True

    def __post_init__(self) -> None:
        if not self.value or not is_header_value(self.value):
            raise UsageError("An API key is printable ASCII, and not empty.")

    @property
    def scope(self) -> str:
        """The key in the log, which never holds the key itself."""
        return "user" if self.user_scoped else "service"


DEFAULT_KEYS = (ApiKey(USER_KEY), ApiKey(SERVICE_KEY, user_scoped=False))

JudgeImage = Callable[[Path, str], Mapping[str, bool | None]]
"""``judge_image(path, model)`` returns the outcome of each check by its id, in order, None for one
that could not be measured. Raises :class:`~palprep.errors.MediaError` for what is no image."""

Recognise = Callable[[Path], MediaType]
"""``recognise(path)`` returns the type of a file by its content. Raises MediaError."""

TrainingKind = Literal["voice", "replica-video", "replica-image", "replica-image-auto-fix"]

Trainer = Callable[[TrainingKind, tuple[Path, ...]], str | None]
"""``trainer(kind, paths)`` returns None if training succeeds, otherwise the record's error_message,
or raises MediaError. ``paths`` are the fetched files: the recording of a voice; the training video
of a replica, and its consent video if there is one; or its image, which is to be fixed first if the
request asks for that."""


class CheckLimit:
    """Ten checks a minute and one at a time, for the whole account (Limits: connector checks)."""

    rate = calls.runtime_check_connector.rate or Rate(10, 60)

    def __init__(self) -> None:
        self.started: deque[float] = deque(maxlen=self.rate.requests)
        """The times of the last checks, by the sandbox's clock."""
        self._running = False

    @contextmanager
    def take(self, now: float) -> Iterator[None]:
        """Run the only check. Raises :class:`Refused`, which says how many seconds to wait."""
        if self._running:
            raise _later("Another runtime check is still running.", 1)
        if wait_s := self.rate.wait_s(self.started, now):
            raise _later("More than 10 runtime checks in a minute.", math.ceil(wait_s))
        self.started.append(now)
        self._running = True
        try:
            yield
        finally:
            self._running = False


def _later(text: str, seconds: int) -> Refused:
    return Refused(JsonAnswer(429, {"error": text}, {"Retry-After": str(seconds)}))


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of one sandbox.

    ``http`` and ``tls`` are for outbound requests. ``scratch`` is a folder for files being judged,
    ``assets`` one for published files. ``keys`` are by their values. ``base_url`` is the sandbox's
    own. ``ended`` is set when nothing more may begin.
    """

    store: Store
    clock: SandboxClock
    choices: Choices
    faults: Faults
    http: httpx.AsyncClient
    tls: ssl.SSLContext
    scratch: Path
    assets: Path
    keys: Mapping[str, ApiKey]
    judge_image: JudgeImage
    trainer: Trainer
    recognise: Recognise
    base_url: str
    check_limit: CheckLimit = field(default_factory=CheckLimit)
    ended: threading.Event = field(default_factory=threading.Event)

    def now(self) -> float:
        return self.clock.now()

    def stamp(self) -> str:
        return stamp(self.clock.now())


@dataclass(frozen=True, slots=True)
class HandlerContext:
    """The context of a handler: ``request``, as its endpoint parsed it, and ``sent``, the members
    of its body by their names on the wire."""

    service: Service
    key: ApiKey
    request: Any
    sent: Mapping[str, Any]

    def find(self, kind: str) -> Record:
        """The record of this kind that the path names. Raises :class:`Refused`."""
        record = self.service.store.get(kind, getattr(self.request, f"{kind}_id"))
        if record is None:
            raise refuse_unknown(self.service.choices, kind)
        return record

    def show(self, kind: str) -> Record:
        return shown(self.find(kind))

    def delete(self, kind: str) -> None:
        if not self.service.store.delete(kind, getattr(self.request, f"{kind}_id")):
            raise refuse_unknown(self.service.choices, kind)


def refuse_unknown(choices: Choices, kind: str) -> Refused:
    """No record of this kind has the id that the path names."""
    if kind in {"pal", "video"}:
        return refuse_error(choices.invalid_id_status, f"Invalid {kind}_id.")
    # The specification shows this status only for connectors.
    status = 404 if kind == "connector" else choices.not_found_status
    refuse = refuse_message if kind in {"document", "dictionary"} else refuse_error
    named = "Pronunciation dictionary" if kind == "dictionary" else kind.capitalize()
    return refuse(status, f"{named} not found.")


Handler = Callable[[HandlerContext], Any]
"""Returns the body of a success, None for no body, or a whole
:class:`~palprep.sandbox.answers.JsonAnswer`. Raises :class:`~palprep.sandbox.answers.Refused`.

A plain function runs inside one transaction of the store, and refuses before it writes. A
coroutine may wait, and opens transactions of its own."""

REMOVED_MEMBER = "replica_thumbnail_video_url"
"""Versioning 3: a member of older deployments, which is never shown."""

SENT = "_sent"
"""A member of a record that is never shown: the body of the request that created it."""


def shown(record: Record, hidden: Collection[str] = ()) -> Record:
    """``record`` without ``hidden`` members, and without its error message unless in error."""
    left_out = {SENT, *hidden}
    if record.get("status") != "error":
        left_out.add("error_message")
    return {name: value for name, value in record.items() if name not in left_out}
