"""The start of a run on record: who is worked on, and who stays in the results as they stand."""

from __future__ import annotations

from collections.abc import Sequence

from palprep._version import __version__
from palprep.batch.people import Person
from palprep.batch.sandbox_judges import RequiredStatement
from palprep.journal.entries import OwnStatement, PersonNames, RunStarted
from palprep.journal.results import PersonStatus
from palprep.journal.run_view import standing
from palprep.journal.store import Journal


def how_they_ended(journal: Journal) -> dict[str, PersonStatus] | None:
    """How each person of the last run stands; None without a run."""
    last = standing(journal)
    return None if last is None else {each.person: each.status for each in last.people}


def record_start(
    journal: Journal,
    people: Sequence[Person],
    statements: Sequence[RequiredStatement],
    *,
    everybody: bool,
    target: str,
    profile: str,
    dry_run: bool,
    without_consent: bool,
) -> None:
    """Record that a run for these people begins.

    Unless they are ``everybody``, those of the last run stay as they stand.
    """
    started = RunStarted(
        people=tuple(
            PersonNames(slug=each.slug, name=each.name, full_name=each.full_name) for each in people
        ),
        target=target,
        profile=profile,
        dry_run=dry_run,
        without_consent=without_consent,
        statements=tuple(
            OwnStatement(text=each.text, language=each.language) for each in statements
        ),
        palprep_version=__version__,
    )
    journal.append(started if everybody else _beside_others(started, journal))


def _beside_others(started: RunStarted, journal: Journal) -> RunStarted:
    own = {each.slug: each for each in started.people}
    only = tuple(own)
    entry = journal.last_run()
    last = entry.body if entry is not None else None
    stay: tuple[PersonNames, ...] = ()
    if isinstance(last, RunStarted) and _is_like(last, started):
        stay = tuple(own.pop(each.slug, each) for each in last.people)
    return started.model_copy(update={"only": only, "people": (*stay, *own.values())})


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
