"""Statements that do not fit into what the model hears at once. The model is played by a fake
that hears two made-up words a second, and writes down those that its window holds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from palprep.consent.opening import find_statement
from palprep.consent.whisper import Heard, Token
from palprep.consent.wording.statement import Statement
from palprep.consent.wording.words import split_words
from palprep.speech import RATE_HZ
from palprep.values import Span

NAME = "Jane Doe"
SYLLABLES = ["".join(pair) for pair in itertools.product("bdfgklmnprst", "aeio")]
WORDS = [one + other for one, other in zip(SYLLABLES * 2, SYLLABLES[7:] * 2, strict=False)]
SENTENCES = [" ".join(WORDS[at : at + 8]) + "." for at in range(0, 80, 8)]
TEXT = " ".join(("I, Jane Doe, agree today.", *SENTENCES))
WORD_S = 0.5


class Parrot:
    """The k-th half second of a recording holds the k-th word that is said, as the value k + 1."""

    name = "parrot"
    sha256 = "0" * 64

    def __init__(self, said: str) -> None:
        self.words = said.split()

    def hear(self, samples):
        marks = samples[: 30 * RATE_HZ : RATE_HZ // 4]
        return Heard(np.unique(marks[marks >= 1]).astype(int), len(samples) // 160)

    def transcribe(self, heard, language, **_):
        return (" ".join(self.words[mark - 1] for mark in heard.encoded),)

    def weigh(self, heard, texts, language, *, lead="", prompt=None, unlikely=()):
        read = (self.align(heard, text, language) for text in (*texts, *unlikely))
        return tuple(sum(math.log(token.probability) for token in tokens) for tokens in read)

    def align(self, heard, text, language, *, lead="", tail="", prompt=None):
        tokens = []
        said = [(mark, split_words(self.words[mark - 1])) for mark in heard.encoded]
        first = heard.encoded[0] if len(heard.encoded) else 0
        at = 0
        for word in split_words(text):
            same = [n for n, (_, w) in enumerate(said[at:], at) if w and w[0].keys == word.keys]
            place = said[same[0]][0] if same else first
            at = same[0] + 1 if same else at
            start = WORD_S * float(place - first)
            probability = 0.9 if same else 0.0001
            tokens.append(Token(word.shown, probability, start, start + 0.4, word.begin, word.end))
        return tuple(tokens)


def spoken(said: str) -> tuple[Parrot, np.ndarray, list[Span]]:
    parrot = Parrot(said)
    samples = np.repeat(np.arange(1, len(parrot.words) + 1), RATE_HZ // 2).astype(np.float32)
    spans = [
        Span(start_s=WORD_S * k + 0.05, end_s=WORD_S * k + 0.4) for k in range(len(parrot.words))
    ]
    return parrot, samples, spans


def find(said: str, text: str = TEXT, window_s: float = 30.0):
    parrot, samples, spans = spoken(said)
    return find_statement(samples, Statement.of(text, NAME, "en"), parrot, spans, window_s)


def test_a_statement_that_fits_is_read_at_once():
    text = " ".join(TEXT.split()[:11])
    (found,) = find(text, text)
    assert found.comparison.agreement == 1.0
    assert found.earlier == ()


def test_a_statement_longer_than_a_window_is_read_in_parts():
    found = find(TEXT)
    assert len(found) > 1
    assert " ".join(one.statement.text for one in found) == TEXT
    assert all(one.comparison.agreement == 1.0 for one in found)
    assert all(one.between == () for one in found)
    times = [word.start for one in found for word in one.aligned]
    assert times == sorted(times)
    assert times[-1] == pytest.approx((len(TEXT.split()) - 1) * WORD_S, abs=1.0)
    assert " ".join(one.said for one in found) == TEXT


def test_where_speech_flows_on_a_part_begins_at_the_quietest_moment():
    parrot, samples, _ = spoken(TEXT)
    statement = Statement.of(TEXT, NAME, "en")
    first = len(statement.parts(40)[0].words)
    # Words last to the last sample, but for the one before the second part.
    samples[int((first * WORD_S - 0.1) * RATE_HZ) : int(first * WORD_S * RATE_HZ)] = 0.5
    flowing = [Span(start_s=0.0, end_s=len(samples) / RATE_HZ)]
    found = find_statement(samples, statement, parrot, flowing, 30.0)
    assert found[1].between == ()
    assert found[1].aligned[0].start == pytest.approx(first * WORD_S, abs=0.1)


def test_what_is_said_between_two_parts_is_told():
    first = find(TEXT)[0].statement.text
    found = find(TEXT.replace(first, f"{first} nothing of this counts"))
    assert " ".join(word.shown for word in found[1].between) == "nothing of this counts"


def test_what_is_said_between_two_parts_is_told_where_a_later_window_holds_more_of_the_second():
    first = find(TEXT)[0].statement.text
    inserted = "nothing of this counts" + " chatter" * 24
    found = find(TEXT.replace(first, f"{first} {inserted}"))
    assert all(one.comparison.agreement == 1.0 for one in found)
    assert " ".join(word.shown for word in found[1].between) == inserted


def test_what_follows_is_heard_beyond_the_window_that_holds_the_statement():
    text = " ".join(TEXT.split()[:23])
    taken_back = "this counts for nothing at all"
    (found,) = find(f"{'chatter ' * 36}{text} {taken_back}", text)
    assert found.comparison.agreement == 1.0
    assert found.aligned[-1].end == pytest.approx(29.4, abs=0.1)
    assert found.afterwards[0].endswith(taken_back)


def test_what_is_said_before_a_late_window_is_heard_too():
    before = "refuse " + "chatter " * 50
    text = " ".join(TEXT.split()[:23])
    (found,) = find(before + text, text)
    assert found.comparison.agreement == 1.0
    assert found.aligned[0].start == pytest.approx(25.5, abs=0.6)
    heard = " ".join((*found.earlier, *(w.shown for w in found.heard)))
    assert heard.startswith("refuse chatter")


@pytest.mark.parametrize(("window_s", "found"), [(90.0, True), (20.0, False)])
def test_a_statement_that_begins_after_the_window_is_not_looked_for(window_s, found):
    late = "so hello everyone then " * 40 + TEXT
    assert any(reading.found for reading in find(late, window_s=window_s)) is found


def test_a_statement_that_breaks_off_is_not_found_whole():
    found = find(" ".join(TEXT.split()[:20]))
    last = found[-1]
    assert not last.found or last.comparison.agreement < 1.0


class Overwhelmed(Parrot):
    """Leaves out the first twenty words of a window that is full."""

    def transcribe(self, heard, language, **_):
        marks = heard.encoded if heard.frames < 2900 else heard.encoded[20:]
        return (" ".join(self.words[mark - 1] for mark in marks),)


def test_a_part_is_looked_for_in_less_than_a_full_window_first():
    _, samples, spans = spoken(TEXT)
    statement = Statement.of(TEXT, NAME, "en")
    found = find_statement(samples, statement, Overwhelmed(TEXT), spans, 30.0)
    assert len(found) > 1
    assert all(one.comparison.agreement == 1.0 for one in found)


def test_a_part_that_is_spoken_slowly_is_read_in_a_full_window_then():
    words = TEXT.split()
    slow = " ".join(
        f"{one} {other} um" for one, other in zip(words[::2], words[1::2], strict=False)
    )
    first = find(slow)[0]
    seconds = len(first.statement.words) * 1.5 * WORD_S
    assert 20.0 < seconds < 30.0
    assert first.comparison.agreement == 1.0
