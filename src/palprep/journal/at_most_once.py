"""At-most-once creation: the intent is on the disk before the request leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Literal

from palprep.errors import (
    ApiError,
    InvalidRequest,
    JournalError,
    PalprepError,
    ServiceUnreachable,
    UsageError,
)
from palprep.journal.creations import Creation, CreationState, What
from palprep.journal.store import Journal
from palprep.pipelines.steps import Made


class Creator:
    """Creates voices and replicas, each at most once, whatever dies when."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._guard = threading.Lock()
        self._busy: dict[str, threading.Lock] = {}

    def create(
        self,
        key: str,
        *,
        person: str,
        what: What,
        request: Mapping[str, Any],
        send: Callable[[], Made],
    ) -> Creation:
        """The creation under ``key``: an earlier one, or now by ``send``.

        ``send`` makes the one request and nothing else. The result is CREATED or IN_DOUBT.
        An error that proves that nothing was created is raised, and a later run may ask
        again. Two threads with one key take turns, so that equal wishes become one.
        """
        with self._turn(key):
            before = self._journal.creation(key)
            if before is not None and before.state is not CreationState.ABSENT:
                return before
            body = {"what": what, "request": dict(request)}
            self._journal.append("intent", person=person, key=key, body=body)
            try:
                made = send()
            except PalprepError as error:
                fate = fate_of(error)
                told = {"code": error.code, "message": error.message}
                self._journal.append(fate, person=person, key=key, body=told)
                if fate != "unknown":
                    raise
            else:
                self._record(key, person, made)
        after = self._journal.creation(key)
        if after is None:
            raise JournalError(f"The journal {self._journal.path} lost the entries of {key}")
        return after

    def _record(self, key: str, person: str, made: Made) -> None:
        try:
            self._journal.append("created", person=person, key=key, body=made.to_json())
        except JournalError as error:
            # The only moment at which the id is known to nobody else.
            raise JournalError(
                f"{made.id} was created for {person}, and that could not be recorded. "
                f"{error.message}. Then run `palprep status` and settle {key} with this id"
            ) from None

    def _turn(self, key: str) -> threading.Lock:
        with self._guard:
            return self._busy.setdefault(key, threading.Lock())


def fate_of(error: PalprepError) -> Literal["refused", "unsent", "unknown"]:
    """What an error of a create request says about the resource.

    ``refused`` and ``unsent`` prove that it was not created. Anything that proves neither
    is ``unknown``: a 5xx other than 501 (not implemented) may come from a gateway behind
    which the request was carried out, and a success whose reply could not be understood is a
    resource without a known id.
    """
    if isinstance(error, InvalidRequest | UsageError | ServiceUnreachable):
        return "unsent"
    if isinstance(error, ApiError) and (error.status < 500 or error.status == 501):
        return "refused"
    return "unknown"
