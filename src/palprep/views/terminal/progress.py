"""The progress of a run: who is at work, and how the others ended; one line in a notebook."""

from __future__ import annotations

import secrets
import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from palprep.journal.runs import PersonStatus
from palprep.values import Value
from palprep.views.outcomes import STATUSES, WORST_FIRST


class Progress(Value):
    """A step of the work on a person. The last one has a ``status`` with ``reasons``. ``people`` is
    the number of people in the run."""

    person: str
    step: str
    status: PersonStatus | None = None
    reasons: tuple[str, ...] = ()
    people: int = 0


class RunProgress:
    """Counts a run's people by their steps, from any thread; ``show`` is called after each."""

    last: Progress

    def __init__(self, show: Callable[[RunProgress], object]) -> None:
        self.people = 0
        self.ended: Counter[PersonStatus] = Counter()
        self.worked = 0
        """How many people of those ended needed work. The status of the others was known."""
        self.at_work: dict[str, str] = {}
        """The step of each person who has begun and not ended."""
        self._show = show
        self._guard = threading.Lock()

    def __call__(self, step: Progress) -> None:
        with self._guard:
            self.people = step.people
            if step.status is None:
                self.at_work[step.person] = step.step
            else:
                self.worked += self.at_work.pop(step.person, None) is not None
                self.ended[step.status] += 1
            self.last = step
            self._show(self)


def progress_line(progress: RunProgress) -> str:
    ended = ", ".join(
        STATUSES[status].counted(progress.ended[status])
        for status in WORST_FIRST
        if progress.ended[status]
    )
    at_work = "; ".join(f"{person}: {step}" for person, step in progress.at_work.items())
    done = f"{progress.ended.total()} of {progress.people} people"
    return " · ".join(part for part in (done, ended, at_work) if part)


def cell_progress() -> RunProgress | None:
    """A progress that is shown in the running notebook cell; None outside a notebook."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if getattr(shell, "kernel", None) is None:
        return None
    cell = {"display_id": secrets.token_hex(8)}

    def show(progress: RunProgress) -> None:
        line = {"text/plain": progress_line(progress)}
        shell.display_pub.publish(line, transient=cell, update=True)

    shell.display_pub.publish({"text/plain": ""}, transient=cell)
    return RunProgress(show)
