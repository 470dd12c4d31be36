"""The statement as it must be said: its words, the name among them, and its parts."""

from __future__ import annotations

from typing import NamedTuple

from palprep.consent.names import name_slot
from palprep.consent.statements import fill_statement, required_statement
from palprep.consent.words import Word, split_words


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

    @property
    def name_words(self) -> tuple[Word, ...]:
        """The words that are the name."""
        return self.words[self.name.start : self.name.stop]

    @classmethod
    def of(cls, text: str, full_name: str, language: str) -> Statement:
        """Split a statement whose name is filled in."""
        words = split_words(text)
        return cls(text, words, name_slot(words, full_name), full_name, language)

    def parts(self, most: int) -> tuple[Statement, ...]:
        """The statement in stretches of at most ``most`` words, and at least half of that. It is
        cut after sentences where possible, else after commas, and never within the name.
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

    def word_at(self, character: int) -> int:
        """The index of the word that a character of the text belongs to."""
        return next(index for index, word in enumerate(self.words) if character < word.end)


def statement_for(
    full_name: str, statement: str | None, *, language: str, profile: str = "default"
) -> Statement:
    """The statement to listen for; without a text, palprep's template for the profile and language.

    Raises UsageError for a text that names no one, and for a language without a template.
    """
    template = statement or required_statement(profile=profile, language=language)
    return Statement.of(fill_statement(template, full_name), full_name, language)
