"""Fresh codes in the journal: noted with name and time, and gone with the person."""

from __future__ import annotations

import datetime as dt

import pytest

from palprep.errors import UsageError
from palprep.journal import CodeGiven, Journal, PersonNames, RunStarted, give_code

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


def test_without_a_chooser_the_words_cannot_be_foretold():
    journal = Journal()
    assert len({give_code(journal, "Ada Lovelace").words for _ in range(20)}) == 20


@pytest.mark.parametrize("name", ["", " ", "42"])
def test_nobody_gets_no_code(name):
    with pytest.raises(UsageError, match="give the full name"):
        give_code(Journal(), name)


def test_codes_go_with_the_person_and_no_new_one_is_given():
    journal = Journal()
    names = (("ada", "Ada Lovelace"), ("ben", "Ben Bo"))
    people = tuple(PersonNames(slug=slug, name=slug, full_name=full) for slug, full in names)
    about = {"target": "http://x", "profile": "core-4", "palprep_version": "0", "dry_run": False}
    journal.append(RunStarted(people=people, **about))
    for name in ("ada lovelace", "Ben Bo"):
        give_code(journal, name)
    journal.mark_forgotten("ada", ("Ada Lovelace",))
    journal.forget("ada")
    assert [each.body.full_name for each in journal.entries(CodeGiven)] == ["Ben Bo"]
    with pytest.raises(UsageError, match="Ada Lovelace was forgotten"):
        give_code(journal, "Ada Lovelace")
    assert journal.take_in_again("ada")
    assert give_code(journal, "Ada Lovelace").words
