"""The start of a run on record: who is worked on, and who stays in the results as they stand."""

from __future__ import annotations

from collections.abc import Sequence

from palprep._version import __version__
from palprep.batch.people import Person
from palprep.batch.sandbox_workers import RequiredStatement
from palprep.errors import JournalError
from palprep.journal.entries import PersonNames, RunStarted, SandboxStatement
from palprep.journal.results import PersonStatus
from palprep.journal.run_view import PersonOverview, RunReader, standing
from palprep.journal.store import Journal
from palprep.values import Value


class RunOptions(Value):
    """What holds for everybody in a run, and what becomes of them depends on."""

    target: str
    """Where voices and replicas are made: a base URL, or ``embedded sandbox``."""
    profile: str
    dry_run: bool
    without_consent: bool


def how_they_ended(journal: Journal) -> dict[str, PersonStatus] | None:
    """How each person of the last run stands; None without a run."""
    last = standing(journal)
    return None if last is None else {each.person: each.status for each in last.people}


def last_run(journal: Journal) -> RunReader | None:
    """The last run; None without one, and for one of a version that is not read any more."""
    try:
        return RunReader(journal)
    except JournalError:
        # All of it is done again. A journal that cannot be used says so at its next entry.
        return None


def record_start(
    journal: Journal,
    people: Sequence[Person | PersonOverview],
    statements: Sequence[RequiredStatement],
    options: RunOptions,
    *,
    at_work: Sequence[str],
    everybody: bool,
) -> None:
    """Record that a run for these people begins, who are worked on where they are ``at_work``.

    The others stay as the last run left them, and so do all others of that run unless these are
    ``everybody``. A run that is like the last one, and works on nobody, is none.
    """
    started = RunStarted(
        people=tuple(
            PersonNames(slug=each.slug, name=each.name, full_name=each.full_name) for each in people
        ),
        only=None if everybody and len(at_work) == len(people) else tuple(at_work),
        **dict(options),
        statements=tuple(
            SandboxStatement(text=each.text, language=each.language, model=each.model)
            for each in statements
        ),
        palprep_version=__version__,
    )
    entry = journal.last_run()
    last = entry.body if entry is not None and isinstance(entry.body, RunStarted) else None
    if last is not None and _is_like(last, started):
        if not everybody:
            started = _beside_others(started, last)
        if not at_work and started.people == last.people:
            return
    journal.append(started)


def _beside_others(started: RunStarted, last: RunStarted) -> RunStarted:
    own = {each.slug: each for each in started.people}
    stay = tuple(own.pop(each.slug, each) for each in last.people)
    return started.model_copy(update={"people": (*stay, *own.values())})


def _is_like(last: RunStarted, now: RunStarted) -> bool:
    """Whether results of the last run may stand next to those of this one.

    Those of another service, or of a dry run, would be mistaken for this one's; those of another
    version may not be readable.
    """
    return (last.target, last.dry_run, last.palprep_version) == (
        now.target,
        now.dry_run,
        now.palprep_version,
    )
