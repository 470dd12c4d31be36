"""What must be said: the statement of consent, and the fresh code after it.

The service demands its own text, word for word, and may change it. palprep's, in
``statements/<language>.txt``, is the one that avatar services commonly ask for: before you record,
compare it with what the service shows you.

A code is words that nobody knew before they were drawn. Whoever speaks them was recorded after that
moment: an older recording, however genuine, does not hold them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from pydantic import AwareDatetime

from palprep.consent.wording.words import (
    APOSTROPHE,
    NEAR_SOUND,
    Word,
    keys_of,
    similarity,
    split_words,
    text_of,
)
from palprep.errors import UsageError
from palprep.values import Span, Value
from palprep.vocabulary import MOST_TEXT_BYTES

WORDS = 3
VALID_S = 1800.0
"""How long a code is valid unless somebody says otherwise."""

_KNOWN = 0.6
"""Similarity from which words are a code that is known to be there. In two synthetic voices 195 of
208 codes reach it, and 2 of 2,080 remarks beside them; 21 of these reach 0.55."""

Choose = Callable[[Sequence[str]], str]
"""Chooses one of several, each as probable as any other: :func:`secrets.choice`."""


class FreshCode(Value):
    """Words to say after the statement, and the time in which they are valid."""

    words: tuple[str, ...]
    given_at: AwareDatetime
    ends_at: AwareDatetime


class AskedCode(FreshCode):
    """The code that a file must hold, and what decides whether it proves anything."""

    judged_at: AwareDatetime
    """When the file was first judged: it was recorded before."""
    spoken_in: str | None = None
    """Another file in which the same code was spoken before."""


class CodeReading(AskedCode):
    """What was heard of a code after the statement."""

    heard: str = ""
    """The words in its place, or all that is heard after the statement."""
    spoken: Span | None = None
    """From the pause before it, in seconds of the recording; None where the code was not heard."""
    kept_in: str | None = None
    """The file beside this one that holds statement and code in one take, if the code was cut from
    this one. The times are then those of that file."""


def code_words() -> tuple[str, ...]:
    """The words that codes are drawn from: common English ones, no two of which are alike by their
    sound, as :func:`palprep.consent.wording.words.similarity` has it.
    """
    file = resources.files("palprep.consent").joinpath("codes", "en.txt")
    return tuple(file.read_text("utf-8").split())


def draw_code(now: dt.datetime, choose: Choose, *, valid_s: float = VALID_S) -> FreshCode:
    """A code of different words, given ``now`` and valid for ``valid_s`` seconds."""
    words: list[str] = []
    while len(words) < WORDS:
        words.append(choose([word for word in code_words() if word not in words]))
    return FreshCode(words=tuple(words), given_at=now, ends_at=now + dt.timedelta(seconds=valid_s))


def nearest_to_code(code: Sequence[str], heard: Sequence[Word]) -> tuple[range, float]:
    """The stretch of heard words that sounds most like the code, and how much, 0 to 1.

    They are compared as one, since a word may have been written down as two.
    """
    wanted, most = " ".join(code), len(heard)
    stretches = (
        range(first, last)
        for first in range(most)
        for last in range(first + 1, min(most, first + 2 * len(code)) + 1)
    )
    alike = {each: similarity(wanted, keys_of(heard[each.start : each.stop])) for each in stretches}
    return max(alike.items(), key=lambda each: each[1], default=(range(0), 0.0))


def without_code(code: AskedCode | None, heard: Sequence[Word]) -> tuple[Word, ...]:
    """Heard words but for those of the code. Where it is known to have been spoken, they are those
    that sound most like it, however they were written down.
    """
    if code is None:
        return tuple(heard)
    place, likeness = nearest_to_code(code.words, heard)
    known = isinstance(code, CodeReading) and code.spoken is not None
    if likeness < (_KNOWN if known else NEAR_SOUND):
        return tuple(heard)
    return (*heard[: place.start], *heard[place.stop :])


PLACEHOLDER = "{full_name}"

_INITIALS = 3
"""So many capitals in a row stay, as in JRR Tolkien, or John Smith III."""

MOST_CHARACTERS = 2_000
"""Of a statement with its name: two minutes of speech. Listening takes longer for more words: 8 s
for 100, and 17 s for 200."""

_MOST_NAME_CHARS = 100
"""Of a name: it is read twice within the 448 tokens of Whisper's decoder, with a statement."""


class Statement(NamedTuple):
    """What must be said."""

    text: str
    words: tuple[Word, ...]
    name: range
    """Which words are the name."""
    full_name: str
    language: str
    offset: int = 0
    """How many words of the statement stand before these, when they are a part of it."""
    ends: bool = True
    """Whether the statement ends with them."""
    spoken_as: str | None = None
    """How the name sounds, in letters of the language. The text has it in the name's place."""
    code: AskedCode | None = None
    """What is to be said after it."""

    @property
    def name_words(self) -> tuple[Word, ...]:
        return self.words[self.name.start : self.name.stop]

    @property
    def said_name(self) -> str:
        """The name as it is written in the text."""
        return spelt(self.spoken_as or self.full_name)

    @property
    def written_name(self) -> tuple[Word, ...]:
        """The words of the name as it is written, where the text has it as it is spoken."""
        return split_words(spelt(self.full_name)) if self.spoken_as else ()

    @classmethod
    def of(
        cls, text: str, full_name: str, language: str, spoken_as: str | None = None
    ) -> Statement:
        """Split a statement in which the name is filled in, as ``spoken_as`` if that is given."""
        words = split_words(text)
        slot = name_slot(words, spoken_as or full_name)
        return cls(text, words, slot, full_name, language, spoken_as=spoken_as)

    def parts(self, most: int) -> tuple[Statement, ...]:
        """The statement in stretches of at most ``most`` words; all but the last have half of that
        or more. It is cut after sentences where possible, else after commas, never in the name.
        """
        parts = []
        first = 0
        while first < len(self.words):
            last = self._cut(first, most)
            text = self.text[self.words[first].begin : self.words[last - 1].end]
            slot = range(self.name.start - first, self.name.stop - first)
            holds = bool(self.name) and first <= self.name.start < last
            parts.append(
                self._replace(
                    text=text,
                    words=split_words(text),
                    name=slot if holds else range(0),
                    offset=self.offset + first,
                    ends=last == len(self.words),
                )
            )
            first = last
        return tuple(parts)

    def _cut(self, first: int, most: int) -> int:
        whole = len(self.words)
        if whole - first <= most:
            return whole
        fitting = [
            last
            for last in range(first + most, first + most // 2, -1)
            if not self.name.start < last < self.name.stop
        ]
        for marks in (".!?", ",;:"):
            for last in fitting:
                if self.words[last - 1].shown.rstrip("\"')").endswith(tuple(marks)):
                    return last
        return fitting[0] if fitting else self.name.stop


def statement_for(
    full_name: str, statement: str | None, *, language: str, spoken_as: str | None = None
) -> Statement:
    """The statement to listen for; without a text, palprep's template for the language. It has the
    name as it is ``spoken_as``, where that is given.

    Raises UsageError for a text that names no one, for a name of more than 100 characters, for a
    language without a template, and for what is no code of a language.
    """
    if not re.fullmatch("[a-z]{2}", language):
        raise UsageError(f"The language must be two letters, as in de (ISO 639-1), not {language}")
    text = fill_statement(statement or required_statement(language), full_name, spoken_as)
    if max(len(full_name), len(spoken_as or "")) > _MOST_NAME_CHARS:
        raise UsageError(
            f"A name of more than {_MOST_NAME_CHARS} characters cannot be listened for: give the "
            "name as it is said in the statement"
        )
    return Statement.of(text, full_name, language, spoken_as)


def name_slot(words: Sequence[Word], full_name: str) -> range:
    """Where the name stands among the statement's words; empty when it is not in it."""
    wanted = split_words(full_name)
    for first in range(len(words) - len(wanted) + 1):
        own = text_of(words[first : first + len(wanted)])
        # "Jane Doe's consent" names her, too.
        for said in (own, re.sub(rf"{APOSTROPHE}s(?=\W*$)", "", own)):
            if keys_of(split_words(said)) == keys_of(wanted):
                return range(first, first + len(wanted))
    return range(0)


def required_statement(language: str = "en") -> str:
    """The template for a language (ISO 639-1), with ``{full_name}`` in it.

    Raises UsageError for a language that no statement is known in: give the service's own.
    """
    file = resources.files("palprep.consent").joinpath("statements", f"{language}.txt")
    if not language.isalpha() or not file.is_file():
        raise UsageError(
            f"No consent statement is known in {language!r}: give the text that your service "
            "demands, with --statement FILE, or as statement in person.toml or the manifest"
        )
    return file.read_text("utf-8").strip()


def read_statement(path: str | Path) -> str:
    """A user's statement, in a text file. The name stands in it as ``{full_name}`` or as itself.

    Raises UsageError when it cannot be read, is empty, or has more than :data:`MOST_TEXT_BYTES`: a
    person.toml may name any file.
    """
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MOST_TEXT_BYTES + 1)
        if len(raw) > MOST_TEXT_BYTES:
            raise UsageError(
                f"The statement {path} has more than {MOST_TEXT_BYTES:,} bytes: shorten it"
            )
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"The statement {path} cannot be read as text: {why}") from None
    if not text.strip():
        raise UsageError(f"The statement {path} is empty")
    return text.strip()


def fill_statement(template: str, full_name: str, spoken_as: str | None = None) -> str:
    """The statement as it must be spoken, on one line, with the name as it is ``spoken_as``.

    A template without the placeholder must hold the very name: a statement that names nobody, or
    somebody else, is nobody's consent. Raises UsageError for such a one, without a name, or for
    more than :data:`MOST_CHARACTERS`.
    """
    name, said = _on_one_line(full_name or ""), _on_one_line(spoken_as or full_name or "")
    if not all(any(char.isalpha() for char in each) for each in (name, said)):
        raise UsageError("The full name of the person who speaks is needed")
    text = open_statement(template, name)
    if PLACEHOLDER not in text:
        raise UsageError(
            f"The consent statement names nobody called {name}: write {PLACEHOLDER} where the "
            "name is said"
        )
    text = text.replace(PLACEHOLDER, spelt(said))
    if len(text) > MOST_CHARACTERS:
        raise UsageError(
            f"The consent statement has {len(text):,} characters, with the name in it; at most "
            f"{MOST_CHARACTERS:,} are listened for"
        )
    return text


def spelt(name: str) -> str:
    """The name with ordinary capitals. A list may have it, or the surname, in capitals, or all in
    small letters, and no model expects to hear that."""
    if name.isupper() or name.islower():
        return name.title()
    return " ".join(
        word.title() if word.isupper() and len(word) > _INITIALS else word for word in name.split()
    )


def open_statement(text: str, full_name: str) -> str:
    """The statement with ``{full_name}`` in the place of this name, on one line."""
    line = _on_one_line(text)
    if PLACEHOLDER in line:
        return line
    name = re.sub(APOSTROPHE, APOSTROPHE, re.escape(_on_one_line(full_name)))
    return re.sub(rf"(?<!\w){name}(?!\w)", PLACEHOLDER, line, flags=re.IGNORECASE)


def _on_one_line(text: str) -> str:
    return " ".join(normalize("NFC", text).split())
