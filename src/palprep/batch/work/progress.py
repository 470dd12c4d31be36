"""What a run reports while it works, and how Ctrl-C stops it without breaking it off half-way.

Python raises KeyboardInterrupt in the main thread, between any two steps, and in no other one.
Most of ``threading`` is written in Python: an event or a condition that the main thread was about
to wait for would stay locked, and everybody else would wait for it for ever. So the main thread
only waits, for a lock that is written in C, until the work has ended by itself.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from palprep.errors import PalprepError
from palprep.journal import PersonOutcome, PersonStatus
from palprep.values import Value


class Progress(Value):
    """Where a person's work is. The last one of a person has a ``status`` and its ``reasons``.

    ``people`` is how many the run has.
    """

    person: str
    step: str
    status: PersonStatus | None = None
    reasons: tuple[str, ...] = ()
    people: int = 0


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


class Stop:
    """Whether the work is to stop. To set it is a single step that takes no lock: also the thread
    that was interrupted may."""

    def __init__(self) -> None:
        self._is_set = False

    def set(self) -> None:
        """Tell everybody who looks."""
        self._is_set = True

    def is_set(self) -> bool:
        """Whether it was told."""
        return self._is_set

    def raise_if_set(self) -> None:
        """Raise KeyboardInterrupt where it was told."""
        if self._is_set:
            raise KeyboardInterrupt


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


_LOOK_EVERY_S = 0.25
"""An interruption can take what woke the main thread: it looks by itself, too."""


def do_aside(work: Callable[[], object], stop: Stop) -> None:
    """Do the work in a thread of its own, and wait until it has ended, whatever happens.

    Raises what the work raises. When the waiting is interrupted, ``stop`` is set and the work has
    ended before that is raised; an error of the work's own goes before. A second interruption
    waits for nothing.
    """
    begun, ended = threading.Lock(), threading.Lock()
    ended.acquire()
    over = False
    raised: list[BaseException] = []

    def go() -> None:
        nonlocal over
        if not begun.acquire(blocking=False):
            return
        try:
            work()
        except BaseException as error:  # noqa: BLE001 -- raised where it is waited for
            raised.append(error)
        finally:
            over = True
            ended.release()

    def wait() -> None:
        while not over:
            ended.acquire(timeout=_LOOK_EVERY_S)

    try:
        # A Thread would wait for an event until it has started.
        _thread.start_new_thread(go, ())
        wait()
    except BaseException:
        stop.set()
        # It may have been interrupted before there was a thread: then none will begin.
        if not begun.acquire(blocking=False):
            wait()
        if raised and not isinstance(raised[0], KeyboardInterrupt):
            raise raised[0] from None
        raise
    if raised:
        raise raised[0]
