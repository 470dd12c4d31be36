"""The people of a journal: who is meant by a slug, a name or a full name; and what is recorded
under a name alone, before a run has met the person: the fresh codes that were given out, the file
in which one was spoken, and that the person agreed to be recorded.
"""

from __future__ import annotations

import datetime as dt
import secrets
from difflib import get_close_matches

from palprep.consent import ConsentFacts, wording
from palprep.consent.wording import VALID_S, AskedCode, Choose, FreshCode, draw_code
from palprep.errors import UsageError
from palprep.journal.entries.bodies import CodeGiven, FileJudged, ProcessingAgreed, RunStarted
from palprep.journal.forgetting import name_key
from palprep.journal.store import Journal
from palprep.vocabulary import by_name, same_name


def people_named(journal: Journal) -> dict[str, tuple[str, ...]]:
    """Everybody whom the journal names, by the slug, with their names."""
    found: dict[str, tuple[str, ...]] = dict.fromkeys(journal.people(), ())
    for run in journal.entries(RunStarted):
        for each in run.body.people:
            before = found.get(each.slug, ())
            found[each.slug] = tuple(dict.fromkeys((*before, each.name, each.full_name)))
    known = {same_name(each) for names in found.values() for each in names}
    met = [each.body.full_name for each in journal.entries(CodeGiven)]
    met += [each.body.full_name for each in journal.entries(ProcessingAgreed)]
    for name in met:
        if same_name(name) not in known:
            # No run has met them yet: they are known by the name alone.
            found.setdefault(name, (name,))
    return found


def find_person(journal: Journal, asked: str) -> str | None:
    """The slug of the person with this slug, or with this name in any case; None for nobody. Raises
    UsageError for a name that several have."""
    people, meant = people_named(journal), same_name(asked)
    if asked in people:
        return asked
    found = [slug for slug, names in people.items() if meant in map(same_name, (slug, *names))]
    if len(found) > 1:
        shared = ", ".join(sorted(found, key=by_name))
        raise UsageError(f"{asked} is the name of {shared}: give the name of the folder")
    return next(iter(found), None)


def nobody(journal: Journal, asked: str) -> UsageError:
    """The error for a name that nobody has. It lists similar names."""
    people = people_named(journal)
    known = list(dict.fromkeys(each for slug, names in people.items() for each in (slug, *names)))
    near = get_close_matches(asked, known, n=3) or sorted(people, key=by_name)[:5]
    place = journal.path.parent if journal.path else "this journal"
    return UsageError(f"{asked} is nobody in {place}; there are {', '.join(near) or 'no people'}")


def give_code(
    journal: Journal, full_name: str, *, valid_s: float = VALID_S, choose: Choose = secrets.choice
) -> FreshCode:
    """Draw a fresh code for whoever has this name, and record it. It must be spoken after the
    statement, within ``valid_s`` seconds. Raises UsageError for a name without letters and for
    somebody who was forgotten, JournalError where it cannot be recorded."""
    name = " ".join(full_name.split())
    if not any(each.isalpha() for each in name):
        raise UsageError("A code is given to a person: give the full name")
    _require_not_forgotten(journal, name)
    code = draw_code(journal.now(), choose, valid_s=valid_s)
    journal.append(CodeGiven(full_name=name, code=code), key=name_key(name))
    return code


def agree(journal: Journal, full_name: str, words: str) -> None:
    """Record that whoever has this name agreed, in these words. Raises as :func:`give_code`."""
    _require_not_forgotten(journal, full_name)
    journal.append(ProcessingAgreed(full_name=full_name, words=words), key=name_key(full_name))


def has_agreed(journal: Journal, full_name: str, words: str) -> bool:
    """Whether somebody of this name agreed in these words, which name the person's folder: another
    person may have the same name."""
    agreed = journal.entries(ProcessingAgreed, key=name_key(full_name))
    return any(each.body.words == words for each in agreed)


def _require_not_forgotten(journal: Journal, name: str) -> None:
    if journal.forgotten("name", (name,)):
        raise UsageError(
            f"{name} was forgotten, and nothing is recorded for them: `palprep forget DIR FOLDER "
            "--again` takes the person in again"
        )


def _code_key(journal: Journal, full_name: str, spoken_as: str | None) -> str:
    """The key of the codes for the name; or else for the name as it is spoken, since a letter in it
    may only look like another letter; or else for a name of the same sound: another spelling needs
    no other voice, and must not do without the code."""
    names = [each for each in (full_name, spoken_as) if each]
    keys = [name_key(each) for each in names]
    if key := next((each for each in keys if journal.entries(CodeGiven, key=each)), None):
        return key
    sounds = [wording.keys_of(wording.split_words(each)) for each in names]
    for given in reversed(journal.entries(CodeGiven)):
        other = wording.keys_of(wording.split_words(given.body.full_name))
        if 1.0 in (wording.similarity(other, own) for own in sounds):
            return name_key(given.body.full_name)
    return keys[0]


def asked_code(
    journal: Journal, full_name: str, spoken_as: str | None = None, *, name: str, sha256: str
) -> AskedCode | None:
    """The code that must be spoken in a file in which this person gives consent; None where none
    was given out, neither for the full name, nor for how it is spoken, nor for a name of the same
    sound. It is the newest code of those before the file, called ``name``, was first judged, or
    else the first code. That the file is judged for the first time now is recorded. The order of
    the entries counts, since the clock may have been set back."""
    key = _code_key(journal, full_name, spoken_as)
    given = journal.entries(CodeGiven, key=key)
    if not given:
        return None
    judged = journal.entries(FileJudged, key=key)
    first = next((entry for entry in judged if entry.body.sha256 == sha256), None)
    if first is None:
        first = journal.append(FileJudged(name=name, sha256=sha256), key=key)
    earlier = [entry for entry in given if entry.seq < first.seq]
    at = dt.datetime.fromisoformat(max(each.at for each in (*earlier, first)))
    code = (earlier[-1] if earlier else given[0]).body.code
    before = next((each.body for each in judged if each.body.spoken == code.words), None)
    other = before.name if before and before.sha256 != sha256 else None
    return AskedCode(**dict(code), judged_at=at, spoken_in=other)


def note_code(journal: Journal, heard: ConsentFacts, *, name: str, sha256: str) -> None:
    """Record that the code was spoken in a file, so that it counts in no other file."""
    if heard.code is not None and heard.code.spoken is not None:
        key = _code_key(journal, heard.full_name, heard.spoken_as)
        body = FileJudged(name=name, sha256=sha256, spoken=heard.code.words)
        if body not in [entry.body for entry in journal.entries(FileJudged, key=key)]:
            journal.append(body, key=key)
