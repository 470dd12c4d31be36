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
from palprep.journal.store import utc_now
from palprep.pipelines import add_to_dossier
from palprep.rules.consent import ConsentDecision, ConsentEvidence
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


def test_a_consent_that_is_taken_back_later_is_a_change(done, go, log):
    [was] = go(retain_s=0.0).people
    [path] = kept_dossiers(done)
    # The clock was an hour fast when the run ended.
    add_to_dossier(path, kind="revocation", written_at=utc_now() - dt.timedelta(hours=1))
    before = log.creates
    for _ in range(2):
        [person] = go(retain_s=0.0).people
        assert (person.status, person.blocked_by) == ("redo", ("consent_ended",))
        assert f"The replica {was.replica.id} was made before" in " ".join(person.reasons)
    assert log.creates == before


def test_who_was_refused_and_accepted_later_is_not_prepared_again(done, go):
    [path] = kept_dossiers(done)
    for accept in (False, True):
        told = ConsentDecision(
            accepted=accept, by="Eve", because="x", decided_at=utc_now(), evidence=ConsentEvidence()
        )
        add_to_dossier(path, kind="decision", written_at=utc_now(), decision=told)
    assert [go(retain_s=0.0).people[0].status for _ in range(2)] == ["done", "done"]
    assert media(done) == []
    said = []
    go(retain_s=0.0, note=said.append)
    assert {each.about for each in said} == {"unchanged"}


def test_a_video_that_someone_deleted_is_still_missing(done):
    for each in media(done):
        each.unlink()
    [(path, kept)] = kept_dossiers(done).items()
    [flaw] = examine_dossier(path, kept=kept).flaws
    assert flaw.problem.endswith("is not there")


def test_an_older_copy_of_a_dossier_undoes_nothing_and_one_that_cannot_be_read_keeps_the_files(
    done,
):
    [path] = kept_dossiers(done)
    older, said = path.read_text(), []
    add_to_dossier(path, kind="revocation", written_at=utc_now())
    for spoil in (path.mkdir, lambda: path.write_text(older)):
        path.unlink()
        spoil()
        with Journal.of(done, lock=True) as journal:
            remove_outlived(journal, done, 0.0, said.append)
        assert len(media(done)) == (4 if path.is_dir() else 0)
        if path.is_dir():
            path.rmdir()
            path.touch()
    assert said[0].text.startswith("not removed: The dossier")
    [kept] = kept_dossiers(done).values()
    assert [each.kind for each in kept.entries] == ["evidence", "revocation", "removal"]


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
