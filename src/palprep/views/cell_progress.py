"""The progress of a run in a notebook cell: one line that is written over."""

from __future__ import annotations

import secrets
import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from palprep.journal.results import PersonStatus
from palprep.views.outcomes import STATUSES, WORST_FIRST


class Step(Protocol):
    """Where a person's work is; the last one of a person has a status."""

    @property
    def person(self) -> str:
        """Whose work it is."""

    @property
    def step(self) -> str:
        """What comes next."""

    @property
    def status(self) -> PersonStatus | None:
        """How it ended, None before."""

    @property
    def people(self) -> int:
        """How many people the run has."""


class CellProgress:
    """Call it with each step, from any thread. ``show`` puts a line of text where the last was."""

    def __init__(self, show: Callable[[str], object]) -> None:
        self._show = show
        self._guard = threading.Lock()
        self._ended: dict[str, PersonStatus] = {}
        self._at_work: dict[str, str] = {}

    def __call__(self, step: Step) -> None:
        """Take in one step, and show where the run is."""
        with self._guard:
            if step.status is None:
                self._at_work[step.person] = step.step
            else:
                self._at_work.pop(step.person, None)
                self._ended[step.person] = step.status
            self._show(self._line(step.people))

    def _line(self, people: int) -> str:
        counts = Counter(self._ended.values())
        ended = ", ".join(
            f"{counts[status]} {STATUSES[status].word.lower()}"
            for status in WORST_FIRST
            if counts[status]
        )
        at_work = "; ".join(f"{person}: {step}" for person, step in self._at_work.items())
        told = f"{len(self._ended)} of {people} people"
        return " · ".join(part for part in (told, ended, at_work) if part)


def cell_progress() -> CellProgress | None:
    """What shows the progress in the running cell; None outside of a notebook."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if getattr(shell, "kernel", None) is None:
        return None
    cell = {"display_id": secrets.token_hex(8)}

    def show(line: str) -> None:
        shell.display_pub.publish({"text/plain": line}, transient=cell, update=True)

    shell.display_pub.publish({"text/plain": ""}, transient=cell)
    return CellProgress(show)
