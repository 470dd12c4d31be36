"""What is said beside a statement: harmless, a doubt, or what changes what it means."""

from __future__ import annotations

import pytest

from palprep.consent import ConsentFacts, Surroundings
from palprep.consent.wording import split_words
from palprep.consent.wording.statement import code_words
from palprep.rules.consent.checks import not_taken_back
from palprep.rules.consent.remarks import grade_after, grade_before, taken_back
from palprep.rules.profile import load_profile
from palprep.values import Outcome

REQUIRED = split_words("I, Jane Doe, am currently speaking and give my consent to videos of me.")
TALK = "Good morning and welcome to my kitchen. Today we bake some bread together, as every week."


def before(said, *, perhaps="", sure=True, heard="Jane Doe"):
    around = Surroundings(before=said, perhaps_before=perhaps)
    return grade_before(around, REQUIRED, ["Jane Doe", heard], sure=sure).outcome


def after(*said, talk=False):
    return grade_after(Surroundings(after=said), REQUIRED, ["Jane Doe"], talk=talk).outcome


@pytest.mark.parametrize(
    "said",
    [
        *("", "Hello.", "Good morning, everybody!", "Hi, my name is Jane Doe.", "Okay. Thank you."),
        *("I'm Jayne Dough.", "Um, so, let me start.", "Are we recording?", "This is my consent."),
        *("That's it, bye.", "All right. You can stop the recording now.", "Take two."),
        "I, Jane Doe, am currently speaking and give my con",
        "I, Jane Doe, am cur, sorry, once more.",
        "Hello, this is my recording for the training.",
        "Good morning, and thank you for taking the time to meet me.",
        *("My name's Jane Doe, and here's my consent.", "This is my statement of consent."),
        *("I'm reading the consent form.", "I will now read out the statement.", "Erm, mm, uhm."),
        *("End of statement.", "Mic test.", "Cut the recording.", "Please stop the video."),
    ],
)
def test_greetings_fillers_and_slips_are_harmless(said):
    assert before(said) is Outcome.PASS
    assert after(said) is Outcome.PASS


@pytest.mark.parametrize(
    "said",
    [
        *("Ask me again next week.", "So says the script.", "Thank you for the money.", "Stop it."),
        *("Greetings from David Jones.", "I heard hope all of it."),
        *("I agree.", "I hereby confirm my consent.", "I'd like to give my consent to this."),
        *("Here is my consent for the AI clone.", "Please and my consent now."),
    ],
)
def test_everything_else_is_a_doubt(said):
    assert before(said) is Outcome.WARN
    assert after(said) is Outcome.WARN


@pytest.mark.parametrize(
    "said",
    [
        *("Under protest.", "This was only a test.", "For internal use only.", "If I get paid."),
        *("Until the end of March.", "My name is actually David Jones.", "Just kidding."),
        *("I speak on behalf of Maria Lopez.", "But I withdraw my consent.", "I take that back."),
        *("I can't allow that.", "Actually, I have changed my mind.", "They made me do it."),
        *("My name is Émile Zola.", "My name is O'Brien."),
        *("That was my consent for Peter.", "I would throw my consent from last week."),
        "Hello and good morning. None of that is true. Thank you.",
        *("Please end my consent now. Thanks.", "Stop my consent.", "Cut out my consent, please."),
        *("This is the end of my consent.", "I agree to nothing.", "My consent is over."),
    ],
)
def test_what_negates_limits_protests_or_names_another_fails(said):
    assert before(said) is Outcome.FAIL
    assert after(said) is Outcome.FAIL


@pytest.mark.parametrize(
    "said", ["Withdraw my consent.", "I know that I withdraw my consent.", "I am not paid."]
)
def test_words_of_the_statement_are_no_slip_where_they_mean_another_thing(said):
    own = split_words(
        "I, Jane Doe, give my consent to videos of me. I know that I can withdraw my consent at "
        "any time, and that I am not paid."
    )
    around = Surroundings(before="I know that I can withdraw my con", after=(said,))
    assert grade_before(around, own, ["Jane Doe"], sure=True).outcome is Outcome.PASS
    assert grade_after(around, own, ["Jane Doe"], talk=False).outcome is Outcome.FAIL


@pytest.mark.parametrize("said", ["If", "Not.", "Never!"])
def test_one_word_alone_may_be_misheard_and_is_a_doubt(said):
    assert before(said) is Outcome.WARN
    assert after(said) is Outcome.WARN


def test_any_reading_of_what_follows_can_be_grave():
    assert after("I would draw it.", "I withdraw it.") is Outcome.FAIL
    assert after("Is it recording?", "Is it recorded?") is Outcome.PASS
    assert after("", "Ask me again.") is Outcome.WARN


def test_the_misheard_beginning_of_a_statement_is_no_remark_that_fails():
    assert before("Hi, why can't", sure=False) is Outcome.WARN
    assert before("Hi, why can't", sure=True) is Outcome.FAIL
    assert before("I do not say the following.", sure=False) is Outcome.FAIL
    assert before("Hi,", perhaps="why can't") is Outcome.WARN
    assert before("Hello.", perhaps="I'm Jendo,", heard="Jendo") is Outcome.PASS


@pytest.mark.parametrize("heard", ["H.", "12345"])
def test_what_has_no_sound_may_stand_in_the_names_place(heard):
    assert before("Hello, my name is Jane Doe.", heard=heard) is Outcome.PASS


def test_talk_that_goes_on_is_no_remark_unless_it_bears_on_the_consent():
    assert after(TALK) is Outcome.WARN
    assert after(TALK, talk=True) is Outcome.PASS
    assert after(f"Only today. {TALK}", talk=True) is Outcome.WARN
    assert after(f"{TALK} You can't forget that recipe.", talk=True) is Outcome.PASS
    assert after(f"{TALK} {TALK} And I do not consent to any of it.", talk=True) is Outcome.FAIL
    assert after(f"{TALK} That was my consent for Peter.", talk=True) is Outcome.WARN
    assert after(f"{TALK} And I take back what I said.", talk=True) is Outcome.WARN
    assert after(f"{TALK} Now take the tin back out.", talk=True) is Outcome.PASS


@pytest.mark.parametrize(
    ("said", "talk", "told"),
    [
        (f"{TALK} And I do not consent to it.", True, "And I do not consent to it."),
        (f"{TALK} {TALK} That was my consent for Peter.", True, "That was my consent for Peter."),
        (f"{TALK} But I withdraw my consent.", False, "But I withdraw my consent."),
        ("So I said. But I withdraw my consent.", False, "So I said. But I withdraw my consent."),
    ],
)
def test_the_sentence_that_counts_is_told_and_not_what_stands_before_it(said, talk, told):
    after_it = grade_after(Surroundings(after=(said,)), REQUIRED, ["Jane Doe"], talk=talk)
    assert (after_it.outcome.passed, after_it.said) == (talk and "for Peter" in said, told)
    before_it = Surroundings(before=f"I withdraw my consent. {TALK}")
    assert grade_before(before_it, REQUIRED, ["Jane Doe"], sure=True).said == (
        "I withdraw my consent."
    )


def test_no_word_of_a_code_is_grave_or_speaks_of_consent():
    assert after(" ".join(code_words())) is Outcome.WARN
    assert after(" ".join(code_words()), talk=True) is Outcome.PASS


@pytest.mark.parametrize(
    ("said", "against"),
    [
        (
            "I, Jane Doe, withdraw my consent to create videos. Please delete them.",
            "I, Jane Doe, w",
        ),
        ("Hello. It's Jane Doe. I do not agree to that any more. Bye.", "I do not agree to that"),
        ("I've changed my mind, sorry.", "I've changed my mind"),
        ("I, Jane Doe, am currently speaking and do not give my consent to videos.", "I, Jane Doe"),
        ("I, Jane Doe, am currently speaking and give my consent to videos of me.", ""),
        ("There are no foolish questions, only ones that are not answered yet.", ""),
        ("If you agree, we begin. You are not allowed in here without shoes.", ""),
        (TALK, ""),
        ("", ""),
    ],
)
def test_a_recording_beside_the_consent_can_take_it_back(said, against):
    heard = ConsentFacts(
        outcome=Outcome.FAIL, transcript=said, starts_at=None, ends_at=None, words=(), reasons=(),
        statement="I, Jane Doe, am currently speaking and give my consent to videos of me.",
        full_name="Jane Doe", language="en",
    )  # fmt: skip
    assert taken_back(heard).startswith(against)
    assert bool(taken_back(heard)) is bool(against)


def test_what_takes_a_consent_back_is_told_with_its_file():
    limits = load_profile("core-4").pairs["consent_not_taken_back"]
    check = not_taken_back("note.m4a", "I withdraw.", ("f" * 64,), limits)
    assert (check.outcome, check.files) == (Outcome.WARN, ("f" * 64,))
    assert check.sentence.startswith("In note.m4a, “I withdraw.” is heard")
