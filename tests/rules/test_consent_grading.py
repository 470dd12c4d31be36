"""From two readings to an outcome: made-up readings, each with one thing that matters."""

from __future__ import annotations

import pytest
from made_up_reading import LIMITS, RARE, SCRIPT, TEXT, name_reading, reading, stated

from palprep.consent import StatementReading, Surroundings
from palprep.consent.compare import Difference, compare
from palprep.consent.reading import Reading, heard_instead, part_reading
from palprep.consent.wording import Statement, split_words
from palprep.rules.consent.grading import Grade, grade_part, grade_statement
from palprep.values import Span


def decide(found: Reading, script: Statement = SCRIPT) -> Grade:
    return grade_part(part_reading(found._replace(statement=script)), script.full_name, LIMITS)


def outcome(found: Reading) -> str:
    return decide(found).outcome


def test_two_readings_that_agree_pass():
    grade, words, reasons = decide(reading(), SCRIPT)
    assert grade == "pass"
    assert reasons == ()
    assert [word.expected for word in words] == TEXT.split()
    assert {word.outcome for word in words} == {"pass"}
    assert (words[0].start, words[0].end) == (0.0, 0.4)


def test_a_word_that_only_the_free_reading_hears_is_a_doubt():
    grade, words, _ = decide(reading(improbable={"made.": 0.0005}), SCRIPT)
    assert grade == "warn"
    assert [word.expected for word in words if word.outcome == "warn"] == ["made."]


@pytest.mark.parametrize(
    ("support", "expected"), [(0.5, "pass"), (-1.0, "pass"), (-3.5, "warn"), (-8.0, "fail")]
)
def test_of_two_wordings_the_likelier_one_is_believed(support, expected):
    assert outcome(reading(TEXT.replace("that", "when"), support=support)) == expected


@pytest.mark.parametrize(("least", "expected"), [(0.03, "pass"), (0.002, "warn"), (0.0005, "fail")])
def test_words_that_fit_better_than_what_was_heard_pass_where_each_is_probable(least, expected):
    found = reading(TEXT.replace("videos", "middle"), improbable={"videos": least}, support=0.5)
    assert outcome(found) == expected


@pytest.mark.parametrize(
    ("least", "support", "expected"),
    [(0.03, -2.9, "pass"), (0.03, -3.1, "warn"), (0.01, -2.9, "warn"), (0.01, -4.1, "fail")],
)
def test_the_worse_words_fit_the_more_each_must_be_supported(least, support, expected):
    heard = TEXT.replace("videos", "middies")
    assert outcome(reading(heard, improbable={"videos": least}, support=support)) == expected


def test_of_words_heard_otherwise_only_those_fail_that_were_not_said():
    heard = TEXT.replace("videos can", "middies con")
    found = reading(heard, improbable={"videos": 0.006}, support=-11.0)
    assert [(one.first, one.last) for one in found.differences] == [(7, 9)]
    assert [word.outcome for word in decide(found).words[7:9]] == ["fail", "warn"]


def test_a_changed_word_is_named_with_what_was_heard():
    found = reading(TEXT.replace("videos", "photos"), improbable={"videos": 0.001}, support=-9.0)
    grade, words, reasons = decide(found, SCRIPT)
    assert grade == "fail"
    (failed,) = [word for word in words if word.outcome == "fail"]
    assert (failed.expected, failed.heard) == ("videos", "photos")
    assert reasons == ("Word 8, “videos”, was heard as “photos” at 3.5 s.",)


def test_several_words_to_which_the_same_befell_share_a_sentence():
    begun, rest = TEXT.split()[:5], TEXT.split()[5:]
    gone = reading(" ".join(begun), improbable=dict.fromkeys(rest, 0.0001), support=-9.0)
    assert decide(gone, SCRIPT).reasons == (
        "Of the words, 6 were not heard: “consent”, “that”, “videos”, “can”, “be” and 1 more.",
    )
    others = {"consent": "contempt", "videos": "photos", "made.": "sold."}
    heard = " ".join(others.get(word, word) for word in TEXT.split())
    found = reading(heard, improbable=dict.fromkeys(others, 0.0001), support=-9.0)
    [reason] = decide(found, SCRIPT).reasons
    said = "“consent” as “contempt”, “videos” as “photos”, “made.” as “sold.”"
    assert reason == f"Of the words, 3 were heard otherwise: {said}."


def test_a_missing_word_has_no_time():
    found = reading(TEXT.replace("my ", ""), improbable={"my": 0.0001}, support=-9.0)
    grade, words, _ = decide(found, SCRIPT)
    (missing,) = [word for word in words if word.outcome == "fail"]
    assert grade == "fail"
    assert (missing.expected, missing.heard, missing.start) == ("my", None, None)


@pytest.mark.parametrize(
    ("more", "least", "expected"),
    [("for you", 0.3, "pass"), ("if paid", 0.3, "warn"), ("if paid", 0.01, "fail")],
)
def test_words_may_have_been_added_where_far_more_was_heard(more, least, expected):
    heard = TEXT.replace("give my", f"give me {more}")
    found = reading(heard, improbable={"my": least}, support=5.0)
    assert outcome(found) == expected


def test_an_added_word_fails_unless_it_was_a_whim():
    heard = TEXT.replace("can be", "can only be")
    grade, words, _ = decide(reading(heard, support=-3.5), SCRIPT)
    assert grade == "fail"
    (added,) = [word for word in words if word.expected is None]
    assert (added.heard, added.outcome) == ("only", "fail")
    assert outcome(reading(heard, support=-1.0, others=(TEXT,))) == "warn"
    assert outcome(reading(heard, support=-1.0, others=(heard,))) == "fail"
    whim = TEXT.replace("can be", "can then be")
    assert outcome(reading(whim, support=-1.0, others=(TEXT,))) == "pass"


@pytest.mark.parametrize("heard", ["I, um, Jane Doe,", "I, Jane Doe, uh,", "Um, I, er, Jane Doe,"])
def test_fillers_next_to_the_name_add_nothing(heard):
    assert outcome(reading(TEXT.replace("I, Jane Doe,", heard), support=-9.0)) == "pass"


def test_an_added_word_without_which_the_statement_fits_far_better_is_a_doubt():
    heard = TEXT.replace("can be", "can all be")
    grade, words, reasons = decide(reading(heard, support=3.5, others=(heard,)))
    assert grade == "warn"
    assert [word.outcome for word in words if word.expected is None] == ["warn"]
    assert reasons == ("“all” may have been added at 4.4 s.",)
    longer = TEXT.replace("my consent", "my if paid consent")
    assert outcome(reading(longer, support=3.5, others=(longer,))) == "fail"
    surname = reading(TEXT.replace("Doe,", "Doe Smith,"), support=3.5)
    next_to_it = heard_instead(surname, Difference(3, 3, 3, 4), 3.5)
    part = part_reading(surname._replace(instead=(next_to_it,)))
    assert grade_part(part, "Jane Doe", LIMITS).outcome == "fail"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        *(("give my, my", "warn"), ("give my con, my", "warn"), ("give, sorry, give my", "warn")),
        *(("give my, give my", "warn"), ("give my full", "fail"), ("give my, only my", "fail")),
    ],
)
def test_a_slip_that_is_said_right_at_once_is_a_doubt(said, expected):
    heard = TEXT.replace("give my", said)
    assert outcome(reading(heard, support=-9.0, others=(heard,))) == expected


@pytest.mark.parametrize(
    ("same", "added", "expected"),
    [
        (False, "Cheer", "warn"),
        (True, "Smith", "fail"),
        (False, "Smith and", "fail"),
        (True, "I", "warn"),
        (True, "give", "warn"),
        (True, "my", "fail"),
    ],
)
def test_a_word_next_to_a_name_can_be_a_piece_of_it_or_the_statements_own(same, added, expected):
    name = name_reading("Jane Doe", 0.9, same=same, told=0.9, favour=4.0)
    found = reading(TEXT.replace("Doe,", f"Doe {added},"), name=name)
    next_to_it = heard_instead(found, Difference(3, 3, 3, 3 + len(added.split())), -4.0)
    part = part_reading(found._replace(instead=(next_to_it,)))
    assert grade_part(part, "Jane Doe", LIMITS).outcome == expected


@pytest.mark.parametrize(
    "heard",
    [
        TEXT.replace("give", "do not give"),
        TEXT.replace("can be", "cannot be"),
        TEXT.replace("give", "never give"),
        TEXT.replace("give", "withdraw"),
    ],
)
def test_negations_fail_whatever_the_forced_reading_says(heard):
    assert outcome(reading(heard, support=5.0)) == "fail"


@pytest.mark.parametrize(("ratio", "expected"), [(1.2, "fail"), (1.3, "pass")])
def test_a_small_word_that_may_be_turned_does_not_pass(ratio, expected):
    grade, _, reasons = decide(reading(turned=(("unlike", 6, ratio),)), SCRIPT)
    assert grade == expected
    assert ["unlike" in reason for reason in reasons] == ([True] if expected == "fail" else [])


def test_a_negation_in_a_less_probable_reading_is_a_doubt():
    assert outcome(reading(others=(TEXT.replace("give", "don't give"),))) == "warn"


@pytest.mark.parametrize(
    ("full_name", "spoken_as", "expected"),
    [
        ("Jane Doe", "Jayne Dough", "pass"),
        ("Jane Doe", "Robert Miller", "warn"),
        ("Jane D\N{CYRILLIC SMALL LETTER O}e", "Jayne Dough", "pass"),
        ("Jane D\N{CYRILLIC SMALL LETTER O}e", "Robert Miller", "warn"),
        ("Jane Doe 王", "Robert Miller", "warn"),
        ("Jane 王", "Jane Wang", "pass"),
        ("ジェーン", "Jane", "pass"),
        ("जेन", "Jane", "pass"),
    ],
)
def test_how_a_name_sounds_is_no_other_name(full_name, spoken_as, expected):
    parts = (part_reading(reading()),)
    known = {"statement": TEXT, "full_name": full_name, "language": "en"}
    facts = grade_statement(StatementReading(**known, spoken_as=spoken_as, parts=parts), LIMITS)
    assert facts.outcome == expected
    assert expected == "pass" or f"which does not sound like {full_name}" in facts.reasons[0]


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0.0, 24.0)], "warn"),
        ([(0.0, 26.0)], "pass"),
        ([(0.0, 10.0), (20.0, 35.0)], "warn"),  # Silence is no talk.
        ([(0.0, 10.0), (20.0, 36.0)], "pass"),
    ],
)
def test_talk_of_twenty_seconds_is_no_remark(spans, expected):
    talk = Surroundings(after=("Today we bake some bread.",))
    speech = tuple(Span(start_s=start, end_s=end) for start, end in spans)
    facts = stated(reading(), around=talk, speech=speech)
    assert facts.ends_at == pytest.approx(5.4)
    assert facts.outcome == expected


@pytest.mark.parametrize(
    ("likeness", "told", "expected"),
    [
        (0.65, 0.19, "fail"),
        (0.66, 0.19, "warn"),
        (0.64, 0.21, "warn"),
        (0.0, 0.0, "fail"),
        (1.0, 0.0, "warn"),
    ],
)
def test_another_name_neither_sounds_alike_nor_is_recognised(likeness, told, expected):
    name = name_reading("in government", likeness, same=False, told=told, favour=-9.0)
    assert outcome(reading(name=name, improbable=RARE)) == expected


def test_silence_around_the_statement_is_no_part_of_it():
    facts = stated(reading(), speech=(Span(start_s=0.2, end_s=5.3),))
    assert (facts.starts_at, facts.ends_at) == (0.2, 5.3)


def test_where_no_name_is_heard_that_is_said():
    name = name_reading("", 0.0, same=False, told=0.0, favour=None)
    said = "Nothing was heard in the place of the name Jane Doe."
    assert said in decide(reading(name=name, improbable=RARE)).reasons


@pytest.mark.parametrize(
    ("least", "told", "favour", "expected"),
    [
        (0.11, 0.21, 1.1, "pass"),
        (0.09, 0.9, 9.0, "warn"),
        (0.9, 0.19, 9.0, "warn"),
        (0.9, 0.9, 0.9, "warn"),
    ],
)
@pytest.mark.parametrize("heard", ["Jane Doe", "you get an arc"])
def test_a_name_passes_that_is_recognised_supported_and_favoured(
    least, told, favour, expected, heard
):
    name = name_reading(heard, 0.7, same=heard == "Jane Doe", told=told, favour=favour)
    assert outcome(reading(name=name, improbable={"Jane": least})) == expected


@pytest.mark.parametrize(("same", "expected"), [(True, "pass"), (False, "warn")])
def test_where_nothing_else_was_heard_the_name_itself_must_be(same, expected):
    name = name_reading("Jane Doe" if same else "", 1.0, same=same, told=0.9, favour=None)
    assert outcome(reading(name=name)) == expected


def test_the_words_of_a_part_are_counted_from_the_statements_start():
    found = reading(TEXT.replace("videos", "photos"), support=-9.0)
    assert decide(found, SCRIPT._replace(offset=6)).reasons == (
        "Word 14, “videos”, was heard as “photos” at 3.5 s.",
    )


def test_a_limit_of_the_profile_moves_the_outcome():
    doubted = reading(TEXT.replace("that", "when"), support=-3.5)
    lenient = LIMITS.model_copy(
        update={"sure_ratio": LIMITS.sure_ratio.model_copy(update={"value": 4.0})}
    )
    part = part_reading(doubted)
    assert grade_part(part, "Jane Doe", LIMITS).outcome == "warn"
    assert grade_part(part, "Jane Doe", lenient).outcome == "pass"


def test_what_is_heard_between_two_parts_was_added():
    part = part_reading(reading()._replace(between=split_words("but only today")))
    grade = grade_part(part, "Jane Doe", LIMITS)
    assert grade.outcome == "fail"
    assert grade.words[0].heard == "but only today"
    assert grade.reasons == ("“but only today” was added.",)


def test_a_part_that_is_not_heard_names_its_words():
    nothing = Reading(SCRIPT._replace(offset=6), "", (), compare(SCRIPT.words, ()))
    grade = grade_part(part_reading(nothing), "Jane Doe", LIMITS)
    assert grade.reasons == ("Words 7 to 17 were not heard.",)
    assert {word.outcome for word in grade.words} == {"fail"}


def test_a_name_in_doubt_says_in_one_sentence_what_was_heard():
    name = name_reading("why Chan?", 0.9, same=False, told=0.5, favour=5.0)
    _, _, reasons = decide(reading(name=name, improbable=RARE))
    assert reasons == ("The name was heard as “why Chan”; it may be Jane Doe. Listen to it.",)


def test_the_reason_that_decides_comes_first():
    name = name_reading("why Chan?", 0.9, same=False, told=0.5, favour=5.0)
    doubted = "The name was heard as “why Chan”; it may be Jane Doe. Listen to it."
    changed = TEXT.replace("videos", "photos")
    first, *others = decide(reading(changed, name=name, improbable=RARE, support=-9.0)).reasons
    assert (first, doubted in others) == (
        "Word 8, “videos”, was heard as “photos” at 3.5 s.",
        True,
    )
    after = Surroundings(after=("I say all of this under protest.",))
    facts = stated(reading(name=name, improbable=RARE), around=after)
    assert facts.outcome == "fail"
    assert facts.reasons[0].startswith("After the statement, “")
    assert facts.reasons[1:] == (doubted,)


def test_a_reading_whose_only_doubt_is_the_name_says_so():
    name = name_reading("why Chan?", 0.9, same=False, told=0.5, favour=5.0)

    def reasons(*others: str) -> tuple[str, ...]:
        return stated(reading(name=name, improbable=RARE, others=others)).reasons

    (told,) = reasons()
    assert told == (
        "Only the name is in doubt: it was heard as “why Chan”, and Jane Doe is required. "
        "Listen to it."
    )
    assert len(reasons(TEXT.replace("give", "never give"))) == 2
