"""Messages to people who must redo something: only what is missing, why, and how."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from palprep.consent.wording import statement_for
from palprep.errors import UsageError
from palprep.escaping import escaped
from palprep.journal.runs import PersonView, ReadableRun
from palprep.rules.consent import CONSENT_CHECKS
from palprep.rules.texts import Ask, ask_of, asks
from palprep.values import Outcome, Value
from palprep.views.drawings.pictures import PICTURES_NAME, PictureFolder
from palprep.views.html import environment, languages_of, words_in
from palprep.views.page import portrait_of, stem_of

_NOT_THEIRS = {
    *("nothing_to_make", "folder_unclear", "folder_empty", "settings_unread"),
    *("cannot_listen", "consent_in_doubt", "file_unreadable", "tool_failed"),
}
"""Blockers that whoever runs palprep must remove."""

_OF_CONSENT = CONSENT_CHECKS | {"consent_refused", "consent_ended"}
"""Blockers about the statement, in whatever file it is."""


class _Part(NamedTuple):
    """The requests about one file, or about all together, by the ids of findings."""

    title: str
    asked: Mapping[str, Ask]


class Message(Value):
    """A message to one person. The HTML needs nothing else; nothing is fetched, nothing runs."""

    person: str
    name: str
    language: str
    subject: str
    text: str
    html: str
    english: tuple[str, ...]
    """The ids of findings that are told in English, because they are not translated."""

    @property
    def stem(self) -> str:
        """The name of its files, without the suffix."""
        return stem_of(self.person)


def messages(run: ReadableRun, folder: Path, language: str = "en") -> Iterator[Message]:
    """The messages to all who must redo something, in their own language, else in ``language``, or
    in English if there is no translation. ``folder`` is the run's output. Raises UsageError for a
    ``language`` without messages."""
    words_in("messages", language)
    show = PictureFolder(folder / PICTURES_NAME).embedded
    for row in run.rows():
        if row.status == "redo":
            own = row.language or language
            person = run.person(row.slug)
            chosen = own if own in languages_of("messages") else "en"
            if parts := tuple(_parts(person, words_in("messages", chosen), chosen)):
                yield _message(person, parts, chosen, portrait_of(person, show))


def _message(
    person: PersonView, parts: tuple[_Part, ...], language: str, picture: str | None
) -> Message:
    words = words_in("messages", language)
    found = {finding for part in parts for finding in part.asked}
    again = found & _OF_CONSENT
    spoken, spoken_in = _to_say(person) if again else ("", "")
    name = person.full_name  # The other one is the replica's.
    subject, greeting = (words[each].format(name=name) for each in ("subject", "greeting"))
    lines = [greeting, "", words["intro"]]
    for part in parts:
        asked = (f"- {each.why} {each.advice}".rstrip() for each in part.asked.values())
        lines += ["", part.title, *dict.fromkeys(asked)]
    lines += ["", words["statement"], "", f"    {spoken}"] if spoken else []
    shown = {"language": language, "words": words, "subject": subject, "greeting": greeting}
    page = environment().get_template("message.html.j2")
    return Message(
        person=person.slug,
        name=name,
        language=language,
        subject=subject,
        text=escaped("\n".join([*lines, "", words["close"], ""])),
        html=page.render(**shown, parts=parts, spoken=spoken, spoken_in=spoken_in, picture=picture),
        english=() if language == "en" else tuple(sorted(found - asks(language).keys())),
    )


def _to_say(person: PersonView) -> tuple[str, str]:
    """The statement that the person must say, and its language; empty without a usable name."""
    heard = person.consent and person.consent.report.consent
    if heard:
        return heard.statement, heard.language
    if person.own_statement:
        return person.own_statement, person.language or "en"
    with contextlib.suppress(UsageError):
        return statement_for(person.full_name, None, language="en").text, "en"
    return "", "en"


def _parts(person: PersonView, words: Mapping[str, Any], language: str) -> Iterator[_Part]:
    """The requests to the person, file by file, then those about no single file."""
    blocked = {*person.blocked_by} - _NOT_THEIRS
    # It stands for every check of consent: the statement was not heard.
    blocked |= CONSENT_CHECKS if "consent_spoken" in blocked else set()
    covered: set[str] = set()
    requested: set[tuple[str, str]] = set()
    for asset in person.assets:
        report, asked = asset.report, {}
        if report.error is not None and report.error.code in blocked:
            asked[report.error.code] = ask_of(report.error.code, language)
        for check in report.told(Outcome.FAIL):
            if check.id in blocked or not person.blocked_by:
                asked[check.id] = ask_of(check.id, language, report.why(check), check.advice)
        covered |= asked.keys() | {check.id for check in report.having(Outcome.FAIL)}
        # A video that is also the recording is asked for once.
        asked = {each: ask for each, ask in asked.items() if (asset.source, each) not in requested}
        requested |= {(asset.source, each) for each in asked}
        if asked:
            role = words["roles"][asset.role.value]
            yield _Part(f"{role} ({Path(asset.source).name})", asked)
    covered |= CONSENT_CHECKS if covered & CONSENT_CHECKS else set()
    rest = {each: ask_of(each, language) for each in person.blocked_by if each in blocked - covered}
    stated = {each: rest.pop(each) for each in [*rest] if each in _OF_CONSENT}
    for title, asked in ((words["roles"]["consent-video"], stated), (words["all_files"], rest)):
        if asked:
            yield _Part(title, asked)
