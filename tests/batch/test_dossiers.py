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


@pytest.mark.thorough
def test_a_name_that_is_as_long_as_can_be_ends_no_run(add, go, out):
    """That of a dossier was too long; and where the new suffix is longer, nobody got anything."""
    long = "š" * 122
    place = add("ada", voice=False, training=True)
    (place / "training.mp4").rename(place / f"training{long}.m")
    eve = add("eve")
    (eve / "recording.wav").rename(eve / f"{long}12345678.w")
    found = {each.slug: each.status for each in go(dry_run=True).people}
    assert found == {"ada": "redo", "eve": "waiting"}
    [path] = kept_dossiers(out)
    assert path.is_file()
    [prepared] = (out / "prepared/eve/voice-audio").iterdir()
    assert prepared.name == f"{long[:100]}.wav"


def test_what_an_earlier_version_kept_counts_until_there_is_a_later_one(tmp_path):
    with Journal.of(tmp_path, create=True) as journal:
        journal.append(DossierKept(path="a.consent.json", dossier={"entries": [{}]}), person="ada")
        with pytest.raises(JournalError, match="of another version"):
            kept_dossiers(tmp_path)
        journal.append(DossierKept(path="a.consent.json", dossier={"entries": []}), person="ada")
    assert list(kept_dossiers(tmp_path)) == [tmp_path / "a.consent.json"]
