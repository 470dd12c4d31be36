"""Fresh codes in the journal: noted with name and time, and gone with the person."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest

from palprep.consent import ConsentFacts
from palprep.consent.wording import CodeReading
from palprep.errors import UsageError
from palprep.journal import Journal, asked_code, find_person, give_code, note_code
from palprep.journal.entries.bodies import (
    AssetPrepared,
    CodeGiven,
    FileJudged,
    PersonNames,
    RunStarted,
)
from palprep.preflight import Asset
from palprep.rules import Report
from palprep.values import Outcome, Span

NOW = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


def last(words):
    return words[-1]


def test_a_code_is_noted_with_the_name_and_the_time_of_the_journal(tmp_path):
    with Journal(tmp_path / "journal.sqlite", create=True, now=lambda: NOW) as journal:
        code = give_code(journal, " Ada  Lovelace ", choose=last)
    assert (code.given_at, code.ends_at) == (NOW, NOW + dt.timedelta(minutes=30))
    with Journal.of(tmp_path) as journal:
        [noted] = journal.entries(CodeGiven)
    assert (noted.body.full_name, noted.body.code) == ("Ada Lovelace", code)


def test_without_a_chooser_the_words_cannot_be_foretold(journal):
    assert len({give_code(journal, "Ada Lovelace").words for _ in range(20)}) == 20


@pytest.mark.parametrize("name", ["", " ", "42"])
def test_nobody_gets_no_code(journal, name):
    with pytest.raises(UsageError, match="give the full name"):
        give_code(journal, name)


def test_a_name_is_one_in_either_form_of_unicode(journal):
    composed, apart = "Jos\u00e9 Garc\u00eda", "Jose\u0301 Garci\u0301a"
    given = give_code(journal, composed)
    asked = asked_code(journal, apart, name="a.mp4", sha256="a")
    assert asked is not None
    assert asked.words == given.words
    assert find_person(journal, apart) == composed
    journal.mark_forgotten(composed, (composed,))
    with pytest.raises(UsageError, match="was forgotten"):
        give_code(journal, apart.upper())


@pytest.mark.parametrize(
    "name",
    ["Ada-Lovelace", "ADA  LOVELACE.", "AdaLovelace", "Ada, Lovelace", "\uff21da Lovel\u00e1ce"],
)
def test_a_name_that_is_written_otherwise_asks_for_the_same_code(journal, name):
    given = give_code(journal, "Ada Lovelace")
    asked = asked_code(journal, name, name="a.mp4", sha256="a")
    assert asked is not None
    assert asked.words == given.words
    assert asked_code(journal, "Ada Love", name="a.mp4", sha256="a") is None


@pytest.mark.parametrize(
    ("name", "asks"),
    [("Jayne Karter", True), ("Jane Carrter", True), ("Joan Carter", False), ("Jane", False)],
)
def test_a_name_of_the_same_sound_does_not_do_without_the_code(journal, name, asks):
    given = give_code(journal, "Jane Carter")
    asked = asked_code(journal, name, name="a.mp4", sha256="a")
    assert (asked is not None and asked.words == given.words) is asks


def test_a_name_whose_letters_only_look_alike_asks_for_the_code_of_how_it_is_spoken(journal):
    given = give_code(journal, "Ada Lovelace")
    cyrillic = "Ad\u0430 Lovelace"
    asked = asked_code(journal, cyrillic, "Ada Lovelace", name="a.mp4", sha256="a")
    assert asked is not None
    assert asked.words == given.words
    spoken = CodeReading(**dict(asked), spoken=Span(start_s=1.0, end_s=2.0))
    listening = {"statement": "", "full_name": cyrillic, "spoken_as": "Ada Lovelace"}
    more = {"outcome": Outcome.PASS, "starts_at": 0.0, "ends_at": 1.0, "words": (), "reasons": ()}
    heard = ConsentFacts(code=spoken, language="en", **listening, **more)
    note_code(journal, heard, name="a.mp4", sha256="a")
    again = asked_code(journal, "Ada Lovelace", name="b.mp4", sha256="b")
    assert again is not None
    assert again.spoken_in == "a.mp4"


def test_codes_go_with_the_person_and_no_new_one_is_given(journal):
    names = (("ada", "Ada Lovelace"), ("ben", "Ben Bo"))
    people = tuple(PersonNames(slug=slug, name=slug, full_name=full) for slug, full in names)
    about = {"target": "http://x", "profile": "core-4", "palprep_version": "0", "dry_run": False}
    journal.append(RunStarted(people=people, **about))
    for name in ("ada lovelace", "Ben Bo"):
        give_code(journal, name)
    assert asked_code(journal, "Ada Lovelace", name="a.mp4", sha256="a")
    journal.mark_forgotten("ada", ("Ada Lovelace",))
    journal.forget("ada")
    assert [each.body.full_name for each in journal.entries(CodeGiven)] == ["Ben Bo"]
    assert journal.entries(FileJudged) == ()
    with pytest.raises(UsageError, match="Ada Lovelace was forgotten"):
        give_code(journal, "Ada Lovelace")
    assert journal.take_in_again("ada")
    assert give_code(journal, "Ada Lovelace").words


@pytest.mark.parametrize("alone", [True, False])
def test_a_code_of_another_spelling_goes_too_unless_somebody_is_called_so(journal, alone):
    names = [("jayne", "Jayne Karter")] + ([] if alone else [("jane", "Jane Carter")])
    people = tuple(PersonNames(slug=slug, name=slug, full_name=full) for slug, full in names)
    about = {"target": "http://x", "profile": "core-4", "palprep_version": "0", "dry_run": False}
    journal.append(RunStarted(people=people, **about))
    give_code(journal, "Jane Carter")
    for (slug, full), sha256 in zip(names, ("1" * 64, "2" * 64), strict=False):
        assert asked_code(journal, full, name=f"{slug}.mp4", sha256=sha256)
        report = Report(path="x", role=None, profile="core-4", checks=())
        asset = Asset(role="consent-video", source="x", source_sha256=sha256, source_report=report,
                      seconds=0.1)  # fmt: skip
        journal.append(AssetPrepared(asset=asset), person=slug, key=sha256)
    journal.forget("jayne")
    assert [each.body.name for each in journal.entries(FileJudged)] == ["jane.mp4"] * (not alone)
    assert len(journal.entries(CodeGiven)) == (not alone)


class Clock:
    """A journal's clock, that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> dt.datetime:
        return self.at

    def after(self, minutes: float) -> None:
        self.at += dt.timedelta(minutes=minutes)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def journal(clock) -> Iterator[Journal]:
    with Journal(now=clock) as journal:
        yield journal


def ask(journal, sha256, name="consent.mp4"):
    return asked_code(journal, "Ada Lovelace", name=name, sha256=sha256)


def heard(asked, *, spoken=True):
    span = Span(start_s=12.0, end_s=14.0) if spoken else None
    return ConsentFacts(
        outcome=Outcome.PASS, starts_at=0.0, ends_at=9.0, words=(), reasons=(), statement="",
        full_name="Ada Lovelace", language="en", code=CodeReading(**dict(asked), spoken=span),
    )  # fmt: skip


def test_where_no_code_was_given_none_is_asked_for_and_nothing_is_noted(journal):
    give_code(journal, "Ben Bo")
    assert ask(journal, "a") is None
    assert journal.entries(FileJudged) == ()


def test_a_file_keeps_the_moment_at_which_it_was_first_judged(journal, clock):
    code = give_code(journal, "Ada Lovelace")
    clock.after(5)
    first = ask(journal, "a")
    assert (first.words, first.given_at, first.judged_at) == (code.words, NOW, clock.at)
    clock.after(60)
    assert ask(journal, "a") == first
    assert ask(journal, "b").judged_at == clock.at > first.ends_at


def test_the_newest_code_counts_of_those_that_there_were(journal, clock):
    old = give_code(journal, "Ada Lovelace")
    clock.after(1)
    before = ask(journal, "a")
    clock.after(1)
    new = give_code(journal, "ADA  Lovelace")
    assert ask(journal, "b").words == new.words
    assert ask(journal, "a") == before
    assert before.words == old.words


def test_no_clock_that_was_set_back_brings_an_older_code_back(journal, clock):
    give_code(journal, "Ada Lovelace")
    clock.after(3600)
    new = give_code(journal, "Ada Lovelace")
    clock.after(-3540)
    asked = ask(journal, "a")
    assert (asked.words, asked.judged_at) == (new.words, new.given_at)
    clock.after(7200)
    assert ask(journal, "a") == asked


def test_a_code_that_one_file_holds_no_other_can(journal, clock):
    give_code(journal, "Ada Lovelace")
    missed, held = ask(journal, "a", "first.mp4"), ask(journal, "b", "second.mp4")
    note_code(journal, heard(missed, spoken=False), name="first.mp4", sha256="a")
    for _ in range(2):
        note_code(journal, heard(held), name="second.mp4", sha256="b")
    assert [entry.body.sha256 for entry in journal.entries(FileJudged)] == ["a", "b", "b"]
    assert ask(journal, "b", "second.mp4").spoken_in is None
    assert ask(journal, "a", "first.mp4").spoken_in == "second.mp4"
    note_code(journal, heard(missed), name="first.mp4", sha256="a")
    assert ask(journal, "b", "second.mp4").spoken_in is None
