"""The statements of a run: what each person must say, and what its sandbox takes for consent."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from palprep.batch.people import LISTENED_TO, Person
from palprep.batch.profiles import profile_for
from palprep.batch.sandbox_workers import RequiredStatement
from palprep.consent.statements import open_statement, read_statement, required_statement
from palprep.errors import UsageError
from palprep.facts.speaker import Speaker


def speaker_of(person: Person, profile: str, model: Path | None = None) -> Speaker | None:
    """Whose consent is listened for, by ``model``; None without a video that may hold it.

    Raises UsageError for a statement that cannot be used.
    """
    if not person.sources.keys() & LISTENED_TO:
        return None
    statement = read_statement(person.statement, profile=profile) if person.statement else None
    return Speaker(
        full_name=person.full_name,
        statement=statement,
        language=person.settings.language,
        model=model,
    )


def statements_of(
    people: Sequence[Person], profile: str, model: Path | None = None
) -> tuple[RequiredStatement, ...]:
    """What a sandbox is to take for consent: palprep's template, and the statements that people
    bring along, their names left open. ``model`` listens for them, ``profile`` is the run's.

    A statement that cannot be used is left out: its person is refused for it.
    """
    found = [RequiredStatement(text=required_statement(), model=model)]
    # A template is the same for everybody: it is read once for each language.
    for language in dict.fromkeys(
        each.settings.language for each in people if each.statement is None
    ):
        with contextlib.suppress(UsageError):
            text = required_statement(language=language)
            found.append(RequiredStatement(text=text, language=language, model=model))
    for person in people:
        if person.statement is not None:
            with contextlib.suppress(UsageError):
                own = read_statement(person.statement, profile=profile_for(person, profile))
                text = open_statement(own, person.full_name)
                language = person.settings.language
                found.append(RequiredStatement(text=text, language=language, model=model))
    return tuple(dict.fromkeys(found))
