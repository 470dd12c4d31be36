"""Two models' evidence as one: made-up readings of one part."""

from __future__ import annotations

import pytest

from palprep.consent import (
    AlignedWord,
    HeardInstead,
    NameReading,
    PartReading,
)
from palprep.consent.facts import NegatedWording, SecondHearing
from palprep.rules.consent.evidence import together
from palprep.rules.consent.grading import grade_part
from palprep.rules.profile import load_profile
from palprep.values import Outcome

LIMITS = load_profile().consent
WORDS = ("I,", "Jane", "Doe,", "give", "my", "consent.")
JANE = NameReading(
    heard="Jane Doe,", likeness=1.0, same=True, transcript_likeness=1.0,
    prompted_probability=0.9, log_likelihood_ratio=None, first=1, last=3,
)  # fmt: skip
RARE = JANE.model_copy(
    update={
        "heard": "Chain Dough,",
        "likeness": 0.85,
        "same": False,
        "transcript_likeness": 0.85,
        "log_likelihood_ratio": 1.0,
        "least_log_likelihood_ratio": 1.0,
    }
)


def part(
    probabilities: tuple[float, ...] = (0.9,) * 6,
    *,
    ratio: float | None = None,
    name: NameReading = JANE,
    second: SecondHearing | None = None,
) -> PartReading:
    """``ratio`` is that of "give" to "gave", which was heard."""
    return PartReading(
        first_word=0,
        expected=WORDS,
        aligned=tuple(
            AlignedWord(expected=word, heard=word, start=index, end=index + 0.5, probability=p)
            for index, (word, p) in enumerate(zip(WORDS, probabilities, strict=True))
        ),
        instead=()
        if ratio is None
        else (
            HeardInstead(
                first=3, last=4, heard="gave", log_likelihood_ratio=ratio, in_every_reading=True,
            ),
        ),
        name=name,
        second=second,
    )  # fmt: skip


def heard(
    probabilities: tuple[float, ...] = (0.9,) * 6,
    *,
    instead: tuple[float, ...] = (),
    name: float | None = None,
) -> SecondHearing:
    return SecondHearing(probabilities=probabilities, instead=instead, name=name)


def grade(one: PartReading) -> Outcome:
    return grade_part(one, "Jane Doe", LIMITS).outcome


def test_alone_the_first_model_decides():
    assert together(part(ratio=-8.0)) == part(ratio=-8.0)
    assert grade(part(ratio=-8.0)) == "fail"


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [(-8.0, 9.0, "pass"), (-8.0, 3.0, "warn"), (-8.0, 1.0, "fail"), (-8.0, -9.0, "fail")],
)
def test_log_likelihood_ratios_are_added_up(first, second, outcome):
    doubtful = (0.9, 0.9, 0.9, 0.001, 0.9, 0.9)
    assert grade(part(doubtful, ratio=first, second=heard(instead=(second,)))) == outcome


def test_what_both_hear_otherwise_is_a_doubt_though_it_fits_well_for_the_first():
    assert grade(part(ratio=1.0)) == "pass"
    assert grade(part(ratio=1.0, second=heard(instead=(-2.0,)))) == "pass"
    assert grade(part(ratio=1.0, second=heard(instead=(-20.0,)))) == "warn"


@pytest.mark.parametrize(
    ("first", "second", "outcome"), [(-1.0, 0.0, "pass"), (-1.0, -3.0, "fail"), (-4.0, 3.0, "pass")]
)
def test_added_words_are_told_from_an_accident_of_one_model(first, second, outcome):
    added = HeardInstead(
        first=3, last=3, heard="maybe", log_likelihood_ratio=first, in_every_reading=False,
    )  # fmt: skip
    one = part(second=heard(instead=(second,))).model_copy(update={"instead": (added,)})
    assert grade(one) == outcome


@pytest.mark.parametrize(
    ("said", "outcome"),
    [("if I am paid,", "fail"), ("only", "warn"), ("to my brother", "warn"), ("and", "pass")],
)
def test_a_condition_counts_though_the_models_prefer_the_statement_without_it(said, outcome):
    """A voice said "samples I provide if I am paid": written down, and by both left out."""
    added = HeardInstead(
        first=5, last=5, heard=said, log_likelihood_ratio=6.3, in_every_reading=False,
    )  # fmt: skip
    one = part(second=heard(instead=(6.2,))).model_copy(update={"instead": (added,)})
    assert grade(one) == outcome


def test_a_word_is_as_probable_as_the_better_listener_holds_it():
    hardly = (0.9, 0.9, 0.9, 0.0005, 0.9, 0.9)
    assert grade(part(hardly)) == "warn"
    assert grade(part(hardly, second=heard(hardly))) == "warn"
    assert grade(part(hardly, second=heard())) == "pass"


def test_no_name_is_put_together_of_what_each_one_heard_half():
    mixed = together(
        part((0.9, 0.8, 0.001, 0.9, 0.9, 0.9), second=heard((0.9, 0.002, 0.7, 0.9, 0.9, 0.9)))
    )
    assert [word.probability for word in mixed.aligned[1:3]] == [0.002, 0.7]


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        (3.0, None, "pass"),
        (3.0, -1.0, "pass"),
        (3.0, -3.0, "warn"),
        (-3.0, 5.0, "pass"),
        (None, 2.0, "pass"),
        (None, -2.0, "warn"),
    ],
)
def test_a_name_passes_only_where_both_together_favour_it(first, second, outcome):
    name = RARE.model_copy(update={"least_log_likelihood_ratio": first})
    assert grade(part(name=name, second=heard(name=second))) == outcome


def test_a_name_is_supported_by_the_listener_that_hears_it_better():
    poor = (0.9, 0.02, 0.02, 0.9, 0.9, 0.9)
    name = RARE.model_copy(update={"least_log_likelihood_ratio": 3.0})
    assert grade(part(poor, name=name, second=heard(poor, name=3.0))) == "warn"
    assert grade(part(poor, name=name, second=heard(name=3.0))) == "pass"


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        (1.2, None, "fail"),
        (1.2, 1.2, "fail"),
        (1.2, 1.4, "warn"),
        (-0.7, 1.8, "fail"),
        (-0.7, 3.3, "warn"),
        (1.3, 0.0, "pass"),
    ],
)
def test_a_turned_word_that_nobody_wrote_down_is_a_doubt_if_both_prefer_the_required_one(
    first, second, outcome
):
    turned = NegatedWording(word=3, heard="gave", log_likelihood_ratio=first)
    again = None if second is None else heard().model_copy(update={"negated": (second,)})
    assert grade(part(second=again).model_copy(update={"negated": (turned,)})) == outcome


def test_a_negation_that_was_written_down_fails_however_sure_both_are():
    turned = NegatedWording(word=3, heard="don't give", log_likelihood_ratio=1.2)
    again = heard().model_copy(update={"negated": (20.0,)})
    said = {"negated": (turned,), "negating_words": ("don't",)}
    assert grade(part(second=again).model_copy(update=said)) == "fail"
