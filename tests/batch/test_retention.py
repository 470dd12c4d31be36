"""--retain: prepared files go some time after a person was done, and everything says so."""

from __future__ import annotations

import datetime as dt
import time

import pytest

from palprep.batch import forget, kept_dossiers
from palprep.batch.forgetting import remove_outlived
from palprep.batch.work.waiting import watch
from palprep.dossier import examine_dossier
from palprep.journal import Journal
from palprep.views import export_dossiers

DAY_S = 86_400.0


@pytest.fixture
def done(add, go, out):
    """Somebody with a dossier is done."""
    add("ada", portrait=True, training=True, consent=True, settings='full_name = "Jane Carter"')
    [person] = go().people
    assert person.status == "done"
    time.sleep(0.05)
    return out


def media(out):
    return [
        each
        for each in (out / "prepared").rglob("*")
        if each.is_file() and not each.name.endswith(".consent.json")
    ]


def test_files_go_in_time_and_the_dossier_says_so(done, go, folder, log, connection):
    assert len(media(done)) == 4
    go(retain_s=DAY_S)
    assert len(media(done)) == 4
    said = []
    watch(done, connection=connection, retain_s=0.0, note=said.append)
    assert media(done) == []
    assert [(each.person, each.about) for each in said] == [("ada", "removed")]
    assert "dossiers" in said[0].text
    for path, kept in kept_dossiers(done).items():
        found = examine_dossier(path, kept=kept)
        assert found.flaws == ()
        assert [each.state for each in found.files] == ["removed", "not compared"]
        assert found.dossier.removal.note == "0 days after the work ended"
        page = export_dossiers([found], folder / "x.html", now=dt.datetime.now(dt.UTC))
        assert "removed on purpose" in page.read_text()
        page.unlink()
    assert len(list((done / "pictures").iterdir())) > 2
    assert (folder / "ada/training.mp4").is_file()
    # Nothing is prepared again, since nothing has changed; and nothing is removed twice.
    before, said = log.creates, []
    assert go(retain_s=0.0, note=said.append).people[0].status == "done"
    assert media(done) == []
    assert {each.about for each in said} == {"unchanged"}
    assert log.creates == before


def test_a_video_that_someone_deleted_is_still_missing(done):
    for each in media(done):
        each.unlink()
    [(path, kept)] = kept_dossiers(done).items()
    [flaw] = examine_dossier(path, kept=kept).flaws
    assert flaw.problem.endswith("is not there")


def test_cut_off_between_the_dossier_and_the_files_the_next_end_goes_on(done):
    class Cut(Exception):
        pass

    notes = []
    with Journal.of(done, lock=True) as journal:
        add = journal.append

        def die(body, **about):
            if body.kind == "dossier_kept":
                raise Cut
            return add(body, **about)

        journal.append = die
        with pytest.raises(Cut):
            remove_outlived(journal, done, 0.0, notes.append)
        journal.append = add
        assert len(media(done)) == 4
        remove_outlived(journal, done, 0.0, notes.append)
        assert media(done) == []
        assert notes
        told = [*notes]
        remove_outlived(journal, done, 0.0, notes.append)
        assert notes == told
    for path in kept_dossiers(done):
        kinds = [each.kind for each in examine_dossier(path).dossier.entries]
        assert kinds.count("removal") == 1
    forget(done, "ada")
    assert not (done / "prepared/ada").exists()
