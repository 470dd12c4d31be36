"""Messages to people who must redo something: only what is missing, why, and how.

``messages/<language>.toml`` holds what stands around that. What a finding asks of a person is
:func:`palprep.rules.asks`; in English the reports know why more exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from palprep.escaping import escaped
from palprep.journal import PersonView, ReadableRun
from palprep.rules import CONSENT_CHECKS, Ask, asks, blocker_words
from palprep.values import Outcome, Role, Value
from palprep.views.guide import languages_of, words_in
from palprep.views.html import environment
from palprep.views.page import portrait_of
from palprep.views.pictures import PICTURES_NAME, PictureFolder

_KIND = "messages"

_NOT_THEIRS = ("nothing_to_make", "folder_unclear", "cannot_listen", "consent_in_doubt")
"""What is in the way and is for whoever runs palprep to see to."""


class _Words(Value):
    """What stands around the findings. ``{name}`` is the person's."""

    subject: str
    greeting: str
    intro: str
    statement: str
    close: str
    all_files: str
    roles: Mapping[Role, str]


class _Found(Ask):
    """A finding in the person's language, or in English."""

    id: str


class _Part(Value):
    """What is to be done again of one file, or of all together."""

    title: str
    findings: tuple[_Found, ...]


class Message(Value):
    """A message to one person. The HTML needs nothing else; nothing is fetched, nothing runs."""

    person: str
    name: str
    language: str
    subject: str
    text: str
    html: str
    english: tuple[str, ...]
    """The ids of what is told in English, since it is not translated."""


def messages(run: ReadableRun, folder: Path, language: str = "en") -> Iterator[Message]:
    """The messages to all who must redo something, in the language of each, or else in this one;
    in English where there is none in that. ``folder`` is the output folder of the run.

    Raises UsageError where there are no messages in ``language``.
    """
    words_in(_KIND, language)
    show = PictureFolder(folder / PICTURES_NAME).embedded
    for row in run.people:
        if row.status == "redo":
            own = row.language or language
            person = run.person(row.slug)
            chosen = own if own in languages_of(_KIND) else "en"
            yield _message(person, chosen, portrait_of(person, show))


def _message(person: PersonView, language: str, picture: str | None) -> Message:
    words = _Words.model_validate(words_in(_KIND, language))
    own = {} if language == "en" else asks(language)
    parts = tuple(_parts(person, words, own))
    found = [each for part in parts for each in part.findings]
    again = any(each.id in CONSENT_CHECKS | {"consent_refused"} for each in found)
    heard = person.consent.consent if again and person.consent else None
    greeting = words.greeting.format(name=person.name)
    lines = [greeting, "", words.intro]
    for part in parts:
        asked = (f"- {each.why} {each.advice}".rstrip() for each in part.findings)
        lines += ["", part.title, *dict.fromkeys(asked)]
    lines += ["", words.statement, "", f"    {heard.statement}"] if heard else []
    template = environment().get_template("message.html.j2")
    subject = words.subject.format(name=person.name)
    shown = {"language": language, "words": words, "subject": subject, "greeting": greeting}
    untold = (each.id for each in found if language != "en" and each.id not in own)
    return Message(
        person=person.slug,
        name=person.name,
        language=language,
        subject=subject,
        text=escaped("\n".join([*lines, "", words.close, ""])),
        html=template.render(**shown, parts=parts, heard=heard, picture=picture),
        english=tuple(dict.fromkeys(untold)),
    )


def _parts(person: PersonView, words: _Words, own: Mapping[str, Ask]) -> Iterator[_Part]:
    """What blocks the person, file by file, then what is about no one file."""
    left = dict.fromkeys(each for each in person.blocked_by if each not in _NOT_THEIRS)
    for asset in person.assets:
        report, error = asset.report, asset.report.error
        failed = {check.id for check in report.having(Outcome.FAIL)}
        blocked = failed & {*person.blocked_by} or (set() if person.blocked_by else failed)
        if "consent_spoken" in person.blocked_by:
            # It stands for all that kept the statement from being heard.
            blocked |= failed & CONSENT_CHECKS
        found = [
            _found(check.id, own, check.sentence, check.advice)
            for check in report.told(Outcome.FAIL)
            if check.id in blocked
        ]
        if error is not None and error.code in left:
            found = [_found(error.code, own, error.message)]
        told = {*blocked, *(each.id for each in found)}
        told |= {"consent_spoken"} if told & CONSENT_CHECKS else set()
        left = {each: None for each in left if each not in told}
        if found:
            role = words.roles[asset.role]
            yield _Part(title=f"{role} ({Path(asset.source).name})", findings=tuple(found))
    if left:
        yield _Part(title=words.all_files, findings=tuple(_found(each, own) for each in left))


def _found(
    finding: str, own: Mapping[str, Ask], why: str | None = None, advice: str | None = None
) -> _Found:
    """A finding in the words of the person's ``own`` language, or else in English."""
    said = own.get(finding)
    if said is None:
        english = asks("en").get(finding)
        words = f"{blocker_words(finding).capitalize()}."
        said = Ask(
            why=why or (english.why if english else words),
            advice=english.advice if english else advice or "",
        )
    return _Found(id=finding, **dict(said))
