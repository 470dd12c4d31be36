"""Who is meant by a name: the people of a journal, by their slugs, names and full names."""

from __future__ import annotations

from difflib import get_close_matches

from palprep.errors import UsageError
from palprep.journal.entries import CodeGiven, RunStarted
from palprep.journal.store import Journal


def people_named(journal: Journal) -> dict[str, tuple[str, ...]]:
    """Everybody whom the journal names, by the slug, with their names."""
    found: dict[str, tuple[str, ...]] = dict.fromkeys(journal.people(), ())
    for run in journal.entries(RunStarted):
        for each in run.body.people:
            before = found.get(each.slug, ())
            found[each.slug] = tuple(dict.fromkeys((*before, each.name, each.full_name)))
    known = {each.casefold() for names in found.values() for each in names}
    for given in journal.entries(CodeGiven):
        name = given.body.full_name
        if name.casefold() not in known:
            # No run has met them yet: they are known by the name alone.
            found.setdefault(name, (name,))
    return found


def find_person(journal: Journal, asked: str) -> str | None:
    """The slug of who is meant by a slug, or by a name in any case; None for nobody.

    Raises UsageError for a name that several have.
    """
    people, folded = people_named(journal), asked.casefold()
    if asked in people:
        return asked
    found = [slug for slug, names in people.items() if folded in map(str.casefold, (slug, *names))]
    if len(found) > 1:
        shared = ", ".join(sorted(found))
        raise UsageError(f"{asked} is the name of {shared}: give the name of the folder")
    return next(iter(found), None)


def nobody(journal: Journal, asked: str) -> UsageError:
    """The error for a name that nobody has, with the names that are alike."""
    people = people_named(journal)
    known = list(dict.fromkeys(each for slug, names in people.items() for each in (slug, *names)))
    close = ", ".join(get_close_matches(asked, known, n=3) or known[:5]) or "no people"
    place = journal.path.parent if journal.path else "this journal"
    return UsageError(f"{asked} is nobody in {place}; there are {close}")
