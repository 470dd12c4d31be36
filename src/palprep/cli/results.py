"""The people of a run on a terminal: their status, the next step, and the exit code."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from palprep import views
from palprep.cli.exits import ExitCode, ending_well
from palprep.cli.output import WAIVE, print_line, show, tell
from palprep.journal import runs
from palprep.rules import texts
from palprep.views import terminal

_WATCHED, _TOLD_ELSEWHERE = "`palprep watch`", "is in training: the service"
"""Words in the reasons of people whose training ends here, or where only the service knows it."""

_MANY = 100

T = TypeVar("T")


class Tally:
    """A summary of people who are added one by one. It keeps only a few of them in memory."""

    def __init__(self, people: Iterable[runs.PersonView] = ()) -> None:
        self.doubts: list[runs.PersonView] = []
        """The first people whose replica is held by a doubt."""
        self.held = 0
        self.given_twice = 0
        """How many have given a file that somebody else has given, too."""
        self.in_training: str | None = None
        """The id of one of the replicas in training."""
        self._first: list[runs.PersonStanding] = []
        self._open: list[runs.PersonStanding] = []
        self._statuses = Counter[str]()
        self._blockers = Counter[str]()
        self._endings = set[str]()
        self._waits_for_training = self._told_elsewhere = self._asked = False
        for each in people:
            self.add(each)

    def add(self, person: runs.PersonView) -> runs.PersonView:
        stands = person.standing
        self._statuses[person.status] += 1
        self._endings.add(person.ending)
        if person.blocker is not None:
            self._blockers[person.blocker] += 1
        if person.held:
            self.held += 1
            _keep(self.doubts, person)
        if stands.replica_status == "started":
            self.in_training = self.in_training or stands.replica_id
        if person.status == "waiting":
            reasons = " ".join(person.reasons)
            self._waits_for_training |= stands.voice_status == "started" or _WATCHED in reasons
            self._told_elsewhere |= _TOLD_ELSEWHERE in reasons
        self._asked |= bool(person.asked)
        self.given_twice += person.given_twice
        _keep(self._first, stands)
        if person.status not in runs.READY:
            _keep(self._open, stands)
        return person

    def print_people(self) -> None:
        """Print all people; of many, the first who are not done."""
        count = self._statuses.total()
        shown = self._first if count <= _MANY else self._open
        show(terminal.results_view(shown))
        if len(shown) < count:
            print_line(f"{len(shown):,} of {count:,} people are shown. --json lists all.")

    def exit_code(self, *, dry_run: bool = False) -> ExitCode:
        return ExitCode(runs.exit_code(self._endings, rehearsed=dry_run))

    def summary(self) -> str:
        """The number of people, in all and by status."""
        if not self._statuses:
            return "There was no one to work on"
        by_status = ", ".join(
            look.counted(self._statuses[status])
            for status, look in views.STATUSES.items()
            if self._statuses[status]
        )
        return f"{texts.counted(self._statuses.total(), 'person', 'people')}: {by_status}"

    def tell_blockers(self, *places: Path) -> None:
        """Tell what blocks how many people, with the command that lists them."""
        for blocker, count in self._blockers.most_common():
            who, why = texts.counted(count, "person", "people"), texts.blocker_words(blocker)
            listing = ["palprep", "status", *map(str, places), "--because", blocker]
            tell(f"{who}: {why} (`{shlex.join(listing)}`)")

    def next_step(
        self,
        into: Path,
        *,
        dry_run: bool = False,
        running: bool = False,
        again: str = "start `palprep run` again",
    ) -> str:
        """The next step in one sentence, with its command. ``again`` says how the run goes on, and
        ``running`` that it is still at work."""
        found, place = set(self._statuses), shlex.quote(str(into))
        ended = "cut_off" not in self._endings
        review = f"`palprep review {place}` asks what is open, with the files to look at"
        listen = f"{review}; or decide as `palprep status {place}` says. {WAIVE}"
        see_to = f"see to what the reasons name, and {again}"
        write = f"`palprep ask {place} --into messages` writes to those who must redo something."
        steps = (
            (running, "let the run that is at work end, or interrupt it."),
            (
                "in_doubt" in found,
                f"`palprep status {place}` says how to resolve what is in doubt.",
            ),
            (
                self._waits_for_training and ended,
                f"`palprep watch {place}` waits for the trainings.",
            ),
            ("needs_decision" in found, listen),
            (self._asked, f"{review}; then see to what else the reasons name."),
            ("redo" in found, f"{see_to}. {write}"),
            (found & {"needs_answer", "failed"}, f"{see_to}."),
            (dry_run and "waiting" in found and ended, f"{again} without --dry-run."),
            (
                self._told_elsewhere,
                f"`palprep status {place}` says how to record the end of a training.",
            ),
            ("waiting" in found, f"{again}. It goes on, and creates nothing twice."),
            (True, f"open {shlex.quote(str(into / 'report.html'))}"),
        )
        return f"Next: {next(words for applies, words in steps if applies)}"


def _keep(some: list[T], person: T) -> None:
    if len(some) < _MANY:
        some.append(person)


@contextmanager
def people_at_work(
    place: Path, kept_at_once: str, *, wanted: bool
) -> Iterator[terminal.RunProgress]:
    """Show the progress of a run inside the block. A first signal ends the block well and tells
    what is kept at ``place``; a second one ends it at once and tells what is ``kept_at_once``."""
    from palprep.cli.progress import bars_on_terminal, run_progress

    def kept() -> str:
        if not progress.people:
            return "no work on people had begun."
        page = shlex.join(["palprep", "report", str(place)])
        ended = f"{progress.ended.total()} of {progress.people} people have ended"
        saved = f"progress is saved in {place}. `{page}` writes its page."
        return f"{ended}; {saved} Nothing is created twice."

    with bars_on_terminal(wanted=wanted) as bars:
        progress = run_progress(bars)
        with ending_well(kept, kept_at_once):
            yield progress
