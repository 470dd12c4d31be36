"""What every person's work shares, and how it ends."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palprep.batch.connection import Remote
from palprep.batch.engine import Engine
from palprep.batch.people import Person
from palprep.journal.at_most_once import Creator
from palprep.journal.run_view import Status
from palprep.journal.store import Journal
from palprep.rules.profile import BUILT_IN, load_profile
from palprep.values import Value


class Progress(Value):
    """Where a person's work is. The last one of a person has a ``status``."""

    person: str
    step: str
    status: Status | None = None


Tell = Callable[[Progress], None]
"""Takes progress; called from several threads."""


class Ended(Exception):
    """A person's work is over, with this status and these reasons.

    ``complete``: everything that was to be created has been asked for, so what arrives
    later can turn ``waiting`` into ``done`` without another run. ``at_service``: it was
    the service that refused, or could not be reached.
    """

    def __init__(
        self, status: Status, *reasons: str, complete: bool = False, at_service: bool = False
    ) -> None:
        super().__init__(status)
        self.status: Status = status
        self.reasons = reasons
        self.complete = complete
        self.at_service = at_service


@dataclass(frozen=True)
class RunContext:
    """``remote`` is None in a dry run; ``profile`` is for people whose settings name none;
    ``without_consent`` says that consent which nobody heard stops nothing.
    """

    journal: Journal
    engine: Engine
    creator: Creator
    remote: Remote | None
    into: Path
    profile: str
    tell: Tell
    stop: threading.Event
    without_consent: bool = False

    def profile_for(self, person: Person) -> str:
        """The profile that the person's files are held against."""
        model = person.settings.model
        return model if model in BUILT_IN and model is not None else self.profile

    def model_for(self, person: Person) -> str:
        """The model that the person's portrait is validated for and replica is trained with."""
        return person.settings.model or load_profile(self.profile).model

    def pause(self, seconds: float) -> None:
        """Sleep, unless the run is being stopped: that ends the person's work."""
        sleep = self.remote.connection.sleep if self.remote else None
        if sleep is None:
            self.stop.wait(seconds)
        elif not self.stop.is_set():
            sleep(seconds)
        self.go_on()

    def go_on(self) -> None:
        """Return, unless the run is being stopped."""
        if self.stop.is_set():
            raise Ended("waiting", "The run was interrupted: run the same command again")

    def note(self, person: Person, kind: str, body: dict[str, Any], key: str | None = None) -> None:
        """Record a stage's result."""
        self.journal.append(kind, person=person.slug, key=key, body=body)

    def earlier(
        self, person: Person, kind: str, key: str, fits: Callable[[dict[str, Any]], bool]
    ) -> dict[str, Any] | None:
        """The recorded result of the same stage with the same input, if ``fits`` takes it.

        It is then recorded as reused.
        """
        for entry in reversed(self.journal.entries(key=key)):
            body = dict(entry.body)
            if entry.kind == kind and fits(body):
                self.note(person, "reused", {"seq": entry.seq}, key)
                return body
        return None


def stage_key(kind: str, *parts: object) -> str:
    """The name of a stage's input: the same parts give the same key."""
    text = json.dumps([str(part) for part in parts], ensure_ascii=True)
    return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:32]}"
