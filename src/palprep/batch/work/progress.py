"""What a run reports while it works, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from palprep.batch.work.aside import Stop
from palprep.errors import PalprepError
from palprep.journal import PersonOutcome
from palprep.values import Value
from palprep.views import Progress

Tell = Callable[[Progress], object]
"""Takes progress; called from several threads."""


class Note(Value):
    """One sentence about what was found before the work begins.

    ``person`` is None where it concerns no one person. ``about`` says what it tells: a role as a
    file's name or person.toml has it; a role or a full name that was guessed; a file that is not
    used; who stays as the last run left them; or something of the bucket that is published to.
    """

    person: str | None
    text: str
    about: Literal["role", "guess", "unused", "unchanged", "bucket"]


TakeNote = Callable[[Note], object]


class Stopped(PalprepError):
    """The run was told to stop. It ends the work at a person, and becomes that outcome."""

    code = "run_stopped"


INTERRUPTED = "The run was interrupted: run the same command again"


@dataclass(frozen=True)
class Reporter:
    """Tells of one person's steps, and takes none once the run is being stopped."""

    person: str
    tell: Tell
    stop: Stop
    people: int = 0

    def begin(self, step: str) -> None:
        """Tell which step comes next. Raises Stopped."""
        self.go_on()
        self.tell_step(step)

    def tell_step(self, step: str) -> None:
        """Tell which step it is at."""
        self.tell(Progress(person=self.person, step=step, people=self.people))

    def go_on(self) -> None:
        """Return, unless the run is being stopped. Raises Stopped then."""
        if self.stop.is_set():
            raise Stopped(INTERRUPTED)

    def end(self, outcome: PersonOutcome) -> None:
        """Tell how it ended."""
        self.tell(
            Progress(
                person=self.person,
                step="end",
                status=outcome.status,
                reasons=outcome.words,
                people=self.people,
            )
        )
