"""The people of a run on a terminal: how they stand, what to do next, and the exit code."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from palprep import journal, rules, views
from palprep.cli.exits import ExitCode, worst
from palprep.cli.output import SAME, WAIVE, ending_well, print_line, show, tell

_MANY = 100
"""People who are listed one by one."""


def print_results(results: Sequence[journal.PersonStanding]) -> None:
    """Print a table: of many people only the first who are not done."""
    shown = results
    if len(results) > _MANY:
        shown = [each for each in results if each.status not in journal.READY][:_MANY]
    show(views.results_view(shown))
    if len(shown) < len(results):
        print_line(f"{len(shown):,} of {len(results):,} people are shown. --json lists all.")


def exit_code_of_results(
    results: Iterable[journal.PersonStanding], *, dry_run: bool = False
) -> ExitCode:
    """The worst of all people. A dry run waits for nothing."""
    codes = map(_exit_code, results)
    return worst(each for each in codes if not (dry_run and each is ExitCode.WAITING))


def _exit_code(result: journal.PersonStanding) -> ExitCode:
    if result.held:  # While a voice of the same person is in training, too.
        return ExitCode.IN_DOUBT
    match result.status:
        case "in_doubt" | "needs_decision":
            return ExitCode.IN_DOUBT
        case "failed":
            return ExitCode.SERVICE
        case "redo" | "needs_answer":
            return ExitCode.FAILED
        case "waiting":
            return ExitCode.WAITING
        case "done" | "voice_only":
            return ExitCode.OK


def summary(results: Sequence[journal.PersonStanding]) -> str:
    """How many people there are, and how many of them are done, waiting, to redo and so on."""
    if not results:
        return "There was no one to work on"
    counts = Counter(each.status for each in results)
    said = ", ".join(
        f"{counts[status]:,} {look.word.lower()}"
        for status, look in views.STATUSES.items()
        if counts[status]
    )
    return f"{rules.counted(len(results), 'person', 'people')}: {said}"


def tell_blockers(results: Iterable[journal.PersonStanding], *places: Path) -> None:
    """Tell what is in the way of how many people, with the command that lists them."""
    found = Counter(each.blocker for each in results if each.blocker is not None)
    for blocker, count in found.most_common():
        who, why = rules.counted(count, "person", "people"), rules.blocker_words(blocker)
        listing = ["palprep", "status", *map(str, places), "--because", blocker]
        tell(f"{who}: {why} (`{shlex.join(listing)}`)")


def next_step(
    results: Sequence[journal.PersonStanding],
    into: Path,
    *,
    dry_run: bool = False,
    running: bool = False,
    again: str = SAME,
) -> str:
    """What to do now: one sentence, with the command. ``again`` says how the run goes on, and
    ``running`` that it is still at work.
    """
    found = {each.status for each in results}
    in_training = any(
        each.status == "waiting" and "started" in {each.voice_status, each.replica_status}
        for each in results
    )
    place = shlex.quote(str(into))
    steps = (
        (running, "let the run that is at work end, or interrupt it."),
        ("in_doubt" in found, f"`palprep status {place}` says how to resolve what is in doubt."),
        (in_training, f"`palprep watch {place}` waits for the trainings."),
        (
            "needs_decision" in found,
            f"listen to what is named, and decide as `palprep status {place}` says. {WAIVE}",
        ),
        (found & {"redo", "needs_answer", "failed"}, f"see to what the reasons name, and {again}."),
        (dry_run and results, "run the same command without --dry-run."),
        ("waiting" in found, f"{again}. It goes on, and creates nothing twice."),
        (True, f"open {into / 'report.html'}"),
    )
    return f"Next: {next(words for applies, words in steps if applies)}"


@contextmanager
def people_at_work(place: Path, kept_at_once: str, *, wanted: bool) -> Iterator[views.RunProgress]:
    """Show the progress of people while this lasts. A first signal ends it well, and tells what is
    kept in their folder; a second one ends it at once, and says what was ``kept_at_once``.
    """
    from palprep.cli.progress import showing_run

    def kept() -> str:
        page = shlex.join(["palprep", "report", str(place)])
        through = f"{progress.ended.total()} of {progress.people} people are through"
        return (
            f"{through}, and all that was done is kept in {place}; `{page}` writes its page. "
            "Nothing is created twice."
        )

    with showing_run(wanted=wanted) as progress, ending_well(kept, kept_at_once):
        yield progress
