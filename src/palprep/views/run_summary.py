"""The end of a run in words: what became of everybody, and the command that comes next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from palprep.journal.results import PersonStatus
from palprep.journal.run_view import PersonStanding
from palprep.views.outcomes import STATUSES


def summary(results: Sequence[PersonStanding]) -> str:
    """How many people there are, and how many of them are done, waiting, refused and so on."""
    if not results:
        return "No one was to be worked on"
    counts = Counter(each.status for each in results)
    return f"{people_words(len(results))}: {counted(counts)}"


def counted(counts: Counter[PersonStatus]) -> str:
    """The numbers in the order in which every surface lists them."""
    return ", ".join(
        f"{counts[status]:,} {look.word.lower()}"
        for status, look in STATUSES.items()
        if counts[status]
    )


def people_words(number: int) -> str:
    """The number with its noun."""
    return "1 person" if number == 1 else f"{number:,} people"


def by_file(reasons: Iterable[str]) -> list[str]:
    """The reasons, with a file that several of them are about named once."""
    told: list[str] = []
    about = ""
    for reason in reasons:
        file, named, rest = reason.partition("): ")
        if named and about.endswith(file):
            told[-1] += f" {rest}"
        else:
            told.append(reason)
            about = file if named else ""
    return told


SAME = "run the same command again"
RUN = "start `palprep run` again"
"""How a run goes on: told by itself, and by the commands that only look at it."""
AT_WORK = "Next: let the run that is at work end, or interrupt it."
"""The next step while a run is at work."""


def next_step(
    results: Sequence[PersonStanding], into: Path, *, dry_run: bool = False, again: str = SAME
) -> str:
    """What to do now: one sentence, with the command. ``again`` says how the run goes on."""
    found = {each.status for each in results}
    place = shlex.quote(str(into))
    if "in_doubt" in found:
        return f"Next: `palprep status {place}` says how to resolve what is in doubt."
    if any(_in_training(each) for each in results):
        return f"Next: `palprep watch {place}` waits for the trainings."
    if found & {"refused", "failed"}:
        return f"Next: fix what the reasons name, and {again}."
    if dry_run and results:
        return "Next: run the same command without --dry-run."
    if "waiting" in found:
        return f"Next: {again}. It goes on, and creates nothing twice."
    return f"Next: open {into / 'report.html'}"


def _in_training(result: PersonStanding) -> bool:
    return result.status == "waiting" and "started" in {result.voice_status, result.replica_status}
