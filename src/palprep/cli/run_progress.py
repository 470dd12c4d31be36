"""What a run shows while it works: live bars on a terminal, else a line for each person."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from palprep.cli.printing import progress_console
from palprep.cli.verbosity import tell, tell_detail

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from palprep.batch.progress import Progress
    from palprep.journal.results import PersonStatus

_ROWS = 8
"""People whose step is shown at once; the bar counts the others."""

_TRAINING = "training"


class RunProgress:
    """Takes a run's progress. Thread-safe.

    ``ended`` counts the people who are through, by how they ended.
    """

    def __init__(self, bars: Bars | None = None) -> None:
        self.ended: Counter[PersonStatus] = Counter()
        self.people = 0
        self._bars = bars
        self._rows: dict[str, TaskID] = {}
        self._training: set[str] = set()
        self._guard = threading.Lock()
        self._whole = bars.add_task("people", total=1) if bars is not None else None

    def tell(self, progress: Progress) -> None:
        """Take one step of one person, or the end."""
        with self._guard:
            self.people = progress.people
            if progress.status is None:
                tell_detail(f"{progress.person}: {progress.step}")
                self._step(progress)
            else:
                self.ended[progress.status] += 1
                self._end(progress, progress.status)
            if self._bars is not None and self._whole is not None:
                waiting = f", {len(self._training)} in training" if self._training else ""
                self._bars.update(
                    self._whole,
                    total=progress.people,
                    completed=self.ended.total(),
                    description=f"{self.ended.total()} of {progress.people} people{waiting}",
                )

    def _step(self, progress: Progress) -> None:
        if progress.step == _TRAINING:
            self._training.add(progress.person)
            self._drop_row(progress.person)
            return
        if self._bars is None:
            return
        from rich.markup import escape

        line = f"[bold]{escape(progress.person)}[/]  {escape(progress.step)}"
        if progress.person in self._rows:
            self._bars.update(self._rows[progress.person], description=line)
        elif len(self._rows) < _ROWS:
            self._rows[progress.person] = self._bars.add_task(line, total=None)

    def _end(self, progress: Progress, status: PersonStatus) -> None:
        self._training.discard(progress.person)
        self._drop_row(progress.person)
        word = status.replace("_", " ")
        why = f": {progress.reasons[0]}" if progress.reasons else ""
        tell(f"{self.ended.total()} of {progress.people}: {progress.person} {word}{why}")

    def _drop_row(self, person: str) -> None:
        if self._bars is not None and person in self._rows:
            self._bars.remove_task(self._rows.pop(person))


@contextmanager
def run_progress(*, bars: bool) -> Iterator[RunProgress]:
    """Show progress while this lasts: with ``bars`` where standard error is a terminal."""
    console = progress_console() if bars else None
    if console is None:
        yield RunProgress()
        return
    from palprep.views.run_bars import run_bars

    with run_bars(console) as drawn:
        yield RunProgress(drawn)
