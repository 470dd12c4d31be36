"""Dossiers of a run: one that cannot be gone on with, and what the journal held last."""

from __future__ import annotations

import pytest

from palprep.batch.execution import guarded
from palprep.batch.people.person import Person
from palprep.batch.work.consent import kept_dossiers
from palprep.errors import DossierUnusable, JournalError
from palprep.journal import Journal
from palprep.journal.entries.bodies import DossierKept


def test_a_dossier_that_cannot_be_gone_on_with_stops_its_person_alone():
    def steps(error: JournalError):
        raise error

    ended = guarded(Person(slug="ada"), lambda: steps(DossierUnusable("Move it elsewhere")))
    assert (ended.status, ended.reasons) == ("failed", ("Move it elsewhere",))
    with pytest.raises(JournalError, match="The disk is full"):
        guarded(Person(slug="ada"), lambda: steps(JournalError("The disk is full")))


def test_what_an_earlier_version_kept_counts_until_there_is_a_later_one(tmp_path):
    with Journal.of(tmp_path, create=True) as journal:
        journal.append(DossierKept(path="a.consent.json", dossier={"entries": [{}]}), person="ada")
        with pytest.raises(JournalError, match="of another version"):
            kept_dossiers(tmp_path)
        journal.append(DossierKept(path="a.consent.json", dossier={"entries": []}), person="ada")
    assert list(kept_dossiers(tmp_path)) == [tmp_path / "a.consent.json"]
