"""What a run tells while it works, and how it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from palprep.errors import PalprepError
from palprep.journal.results import PersonStatus
from palprep.values import Value


class Progress(Value):
    """Where a person's work is. The last one of a person has a ``status``."""

    person: str
    step: str
    status: PersonStatus | None = None


Tell = Callable[[Progress], object]
"""Takes progress; called from several threads."""


class Stopped(PalprepError):
    """The run was told to stop. It never leaves the person whose work it ends."""

    code = "run_stopped"


@dataclass(frozen=True)
class Reporter:
    """Tells of one person's steps, and takes none once the run is being stopped."""

    person: str
    tell: Tell
    stop: threading.Event

    def begin(self, step: str) -> None:
        """Tell which step comes next. Raises Stopped."""
        self.go_on()
        self.tell(Progress(person=self.person, step=step))

    def go_on(self) -> None:
        """Return, unless the run is being stopped. Raises Stopped then."""
        if self.stop.is_set():
            raise Stopped("The run was interrupted: run the same command again")

    def end(self, status: PersonStatus) -> None:
        """Tell how it ended."""
        self.tell(Progress(person=self.person, step="end", status=status))
