"""What a second model is asked, and when. It is played by a fake that heard a given text: each
word of a wording that is not in it costs 10."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.consent.facts import (
    AlignedWord,
    HeardInstead,
    NameReading,
    NegatedWording,
    PartReading,
    StatementReading,
)
from palprep.consent.moonshine import WordScore, hear_again, leaves_doubt
from palprep.speech import RATE_HZ
from palprep.values import Span

TEXT = "I, Jane Doe, give my consent that videos can be made."
NAME = NameReading(
    heard="Jane Doe,", likeness=1.0, same=True, transcript_likeness=1.0,
    prompted_probability=0.9, log_likelihood_ratio=None, first=1, last=3,
)  # fmt: skip


class Witness:
    """Heard ``said``. Remembers how much it was given to hear."""

    name = "witness"
    sha256 = "0" * 64

    def __init__(self, said: str) -> None:
        self.said = set(said.split())
        self.heard_s: list[float] = []

    def hear(self, samples):
        self.heard_s.append(len(samples) / RATE_HZ)
        return len(samples)

    def words(self, heard, text, *, lead=""):
        return tuple(
            WordScore(0.0, 0.9) if word in self.said else WordScore(-10.0, 0.01)
            for word in text.split()
        )

    def weigh(self, heard, text, *, lead=""):
        return sum(word.log_probability for word in self.words(heard, text, lead=lead))


def part(starts_s: float = 2.0, **changed) -> PartReading:
    words = TEXT.split()
    aligned = tuple(
        AlignedWord(
            expected=word,
            heard=word,
            start=starts_s + index / 2,
            end=starts_s + index / 2 + 0.4,
            probability=0.9,
        )
        for index, word in enumerate(words)
    )
    return PartReading(
        first_word=0, expected=tuple(words), **{"aligned": aligned, "name": NAME, **changed}
    )


def reading(one: PartReading, transcript: str = TEXT, said_before: str = "") -> StatementReading:
    return StatementReading(
        statement=TEXT, full_name="Jane Doe", language="en", transcript=transcript,
        speech=(Span(start_s=1.0, end_s=10.0),), parts=(one,),
        said_before=said_before,
    )  # fmt: skip


def instead(first: int, last: int, heard: str) -> HeardInstead:
    return HeardInstead(
        first=first, last=last, heard=heard, log_likelihood_ratio=-3.0, in_every_reading=True,
    )  # fmt: skip


SAMPLES = np.zeros(RATE_HZ * 40, np.float32)


def heard_again(model: Witness, one: StatementReading) -> PartReading:
    return hear_again(model, SAMPLES, one).parts[0]


def test_what_was_heard_clearly_is_not_heard_again():
    model = Witness(TEXT)
    assert heard_again(model, reading(part())).second is None
    assert model.heard_s == []


@pytest.mark.parametrize(
    "doubt",
    [
        {"instead": (instead(3, 4, "gave"),)},
        {"name": NAME.model_copy(update={"same": False})},
        {"name": NAME.model_copy(update={"transcript_likeness": 0.8})},
        {"name": NAME.model_copy(update={"least_log_likelihood_ratio": 0.9})},
        {"negation_in_other_reading": True},
        {"negated": (NegatedWording(word=8, heard="cannot", log_likelihood_ratio=1.2),)},
    ],
)
def test_each_doubt_is_heard_again(doubt):
    assert leaves_doubt(part(**doubt))
    again = hear_again(Witness(TEXT), SAMPLES, reading(part(**doubt)))
    assert again.parts[0].second is not None
    assert (again.second_model, again.second_model_sha256) == ("witness", "0" * 64)


def test_a_part_that_was_not_found_is_no_doubt():
    assert not leaves_doubt(part(aligned=()))


def test_the_required_word_is_weighed_against_the_other_one():
    other = part(instead=(instead(3, 4, "gave"), instead(7, 9, "pictures")))
    second = heard_again(Witness(TEXT), reading(other)).second
    assert second.instead == (10.0, 10.0)
    assert second.probabilities == (0.9,) * len(TEXT.split())
    second = heard_again(Witness(TEXT.replace("give", "gave")), reading(other)).second
    assert second.instead == (-10.0, 10.0)
    assert second.probabilities[3] == 0.01


@pytest.mark.parametrize(
    ("heard", "transcript", "ratio"),
    [
        ("Jane Dough,", TEXT, 10.0),
        ("Jane Doe,", TEXT.replace("Doe,", "Dove,"), 10.0),
        ("Joan Dough,", TEXT.replace("Doe,", "Dove,"), 10.0),
        ("", TEXT, None),
    ],
)
def test_the_name_is_weighed_against_what_is_likest(heard, transcript, ratio):
    name = NAME.model_copy(update={"same": False, "heard": heard})
    second = heard_again(Witness(TEXT), reading(part(name=name), transcript)).second
    assert second.name == ratio


def test_a_turned_word_is_weighed_where_the_first_model_is_not_sure():
    turned = [
        NegatedWording(word=8, heard=said, log_likelihood_ratio=ratio)
        for said, ratio in (("cannot", 1.2), ("can't", 1.3), ("cannot ever", 0.0))
    ]
    second = heard_again(Witness(TEXT), reading(part(negated=turned))).second
    assert second.negated == (10.0, 0.0, 0.0)
    second = heard_again(
        Witness(TEXT.replace("can", "cannot")), reading(part(negated=turned))
    ).second
    assert second.negated == (-10.0, 0.0, 0.0)


def test_the_name_is_weighed_against_its_rival_where_the_very_name_was_heard():
    name = NAME.model_copy(update={"rival": "Jayne Dove", "least_log_likelihood_ratio": -1.0})
    assert heard_again(Witness(TEXT), reading(part(name=name))).second.name == 20.0
    other = Witness(TEXT.replace("Jane Doe,", "Jayne Dove,"))
    assert heard_again(other, reading(part(name=name))).second.name == -20.0


def test_a_name_that_no_other_wording_fits_is_not_heard_again():
    name = NAME.model_copy(update={"rival": "Jayne Dove", "least_log_likelihood_ratio": 1.25})
    assert not leaves_doubt(part(name=name))


def test_what_is_said_before_is_heard_with_it_if_it_is_short():
    doubt = {"negation_in_other_reading": True}
    model = Witness(TEXT)
    heard_again(model, reading(part(starts_s=4.0, **doubt), said_before="Hello"))
    heard_again(model, reading(part(starts_s=20.0, **doubt), said_before="Hello"))
    heard_again(model, reading(part(starts_s=4.0, **doubt)))
    whole_s = len(TEXT.split()) / 2 - 0.1
    assert model.heard_s == pytest.approx([4.0 + whole_s + 1.0, 0.3 + whole_s + 1.0, whole_s + 2.0])
