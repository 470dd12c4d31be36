"""A take of the statement that was refused or taken back is stopped, in whatever file it comes."""

from __future__ import annotations

import datetime as dt

import pytest
from raw import MP4
from refusing import Refusing
from stated import listened_to, said_at

from palprep.dossier import add_entry, dossier_path, examine_dossier, keep_dossier
from palprep.errors import ConsentUnproven, PublishError
from palprep.journal import Journal
from palprep.pipelines import (
    ReplicaRequest,
    add_to_dossier,
    decide,
    keep_in_journal,
    make_replica,
)
from palprep.values import Outcome
from palprep.views import standing


@pytest.mark.parametrize(
    ("starts", "same"),
    [
        ([1.3 + 0.4 * place + 0.02 * (place % 3) for place in range(14)], True),
        ([1.3 + 0.42 * place for place in range(14)], True),
        # A pause put in, and later another one cut out.
        ([1.3 + 0.4 * at + (0.5, 0.3)[at > 25] * (at > 11) for at in range(40)], True),
        ([1.3 + 0.4 * at + 0.07 * (at % 2) for at in range(40)], False),
        ([1.3 + 0.4 * place + 0.12 * (place % 2) for place in range(14)], False),
        ([1.3 + 0.4 * place for place in range(11)], False),
    ],
)
def test_the_same_take_in_another_file_is_no_new_statement(call, publisher, tmp_path, starts, same):
    video = listened_to(tmp_path / "t.mp4", Outcome.PASS)
    first = said_at(video, "1.mp4", MP4, [0.5 + 0.4 * place for place in range(len(starts))])
    call(make_replica, publisher, ReplicaRequest(replica_name="A"), video=first, journal=tmp_path)
    add_to_dossier(dossier_path(first), kind="revocation", written_at=dt.datetime.now(dt.UTC))
    again = said_at(video, "2.mp4", MP4 + b"1", starts)
    error, says = (
        (ConsentUnproven, "took the consent back") if same else (PublishError, "asked to publish")
    )
    with pytest.raises(error, match=says):
        call(
            make_replica, Refusing(), ReplicaRequest(replica_name="A", model_name="core-4.5"),
            video=again, journal=tmp_path, without_consent=same,
        )  # fmt: skip


@pytest.mark.parametrize("person", ["A", "B"])
@pytest.mark.parametrize("stopped", ["refused", "taken back"])
def test_the_same_take_of_another_name_and_with_other_bytes_stays_stopped(
    call, publisher, tmp_path, stopped, person
):
    video = listened_to(tmp_path / "t.mp4", Outcome.WARN)
    starts = [0.5 + 0.4 * place for place in range(14)]
    first, again, anew = (
        said_at(video, f"{name}.mp4", MP4 + name.encode(), starts if name < "3" else starts[::-1])
        for name in "123"
    )

    def make(video, person, **options):
        request = ReplicaRequest(replica_name=person, model_name="core-4.5")
        return call(make_replica, publisher, request, video=video, journal=tmp_path, **options)

    with pytest.raises(ConsentUnproven, match="is in doubt"):
        make(first, "A")
    if stopped == "refused":
        decide(tmp_path, "A", accept=False, by="Eve", because="it is somebody else")
    else:
        add_to_dossier(dossier_path(first), kind="revocation", written_at=dt.datetime.now(dt.UTC))
    for waived in (False, True):
        with pytest.raises(ConsentUnproven, match=r"the same take|took the consent back"):
            make(again, person, without_consent=waived)
    assert standing(examine_dossier(dossier_path(again)), dt.datetime.now(dt.UTC)).word == "VOID"
    if stopped == "refused":  # Somebody hears the take again, and decides otherwise.
        decide(tmp_path, person, accept=True, by="Bob", because="it is her")
        assert make(again, person).id
    # Another take is a new question.
    with pytest.raises(ConsentUnproven, match="is in doubt"):
        make(anew, "C")


def test_what_was_taken_back_before_there_was_a_journal_stays_stopped(call, publisher, tmp_path):
    video = listened_to(tmp_path / "t.mp4", Outcome.PASS)
    starts = [0.5 + 0.4 * place for place in range(14)]
    first, again = (said_at(video, f"{n}.mp4", MP4 + n.encode(), starts) for n in "12")
    # As `palprep fix` and `palprep dossier --revoke` do.
    now = dt.datetime.now(dt.UTC)
    add_to_dossier(
        keep_dossier(first, person="A", written_at=now), kind="revocation", written_at=now
    )
    (tmp_path / "damaged.consent.json").write_text("{")
    with pytest.raises(ConsentUnproven, match="took the consent back"):
        call(
            make_replica, publisher, ReplicaRequest(replica_name="A"), video=again,
            journal=tmp_path, without_consent=True,
        )  # fmt: skip


def test_a_refused_take_in_which_nothing_is_in_doubt_elsewhere_can_be_decided(
    call, publisher, tmp_path
):
    starts = [0.5 + 0.4 * place for place in range(14)]

    def make(person, outcome):
        heard = listened_to(tmp_path / f"{person}.mp4", outcome)
        take = said_at(heard, f"{person}.mp4", MP4 + person.encode(), starts)
        request = ReplicaRequest(replica_name=person)
        return call(make_replica, publisher, request, video=take, journal=tmp_path)

    with pytest.raises(ConsentUnproven, match="is in doubt"):
        make("A", Outcome.WARN)
    decide(tmp_path, "A", accept=False, by="Eve", because="it is somebody else")
    with pytest.raises(ConsentUnproven, match="the same take"):
        make("B", Outcome.PASS)
    decide(tmp_path, "B", accept=True, by="Bob", because="it is her")
    assert make("B", Outcome.PASS).id


def test_a_later_decision_counts_also_when_the_clock_was_set_back(call, publisher, tmp_path):
    video, request = listened_to(tmp_path / "t.mp4", Outcome.WARN), ReplicaRequest(replica_name="A")
    with pytest.raises(ConsentUnproven, match="is in doubt"):
        call(make_replica, publisher, request, video=video, journal=tmp_path)
    fast = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
    with Journal.of(tmp_path) as opened:
        journal = Journal(opened.path, now=lambda: fast)
        decide(journal, "A", accept=False, by="Eve", because="it is somebody else")
        journal.close()
    decide(tmp_path, "A", accept=True, by="Eve", because="it is her after all")
    assert call(make_replica, publisher, request, video=video, journal=tmp_path).id


def test_a_revocation_that_is_kept_for_one_name_is_not_undone_under_another(
    call, publisher, tmp_path
):
    """Both names have one video, and so one dossier. The statement is too short to be a take."""
    video, now = listened_to(tmp_path / "t.mp4", Outcome.PASS), dt.datetime.now(dt.UTC)
    path = dossier_path(video)

    def make(name, model=None):
        request = ReplicaRequest(replica_name=name, model_name=model)
        return call(make_replica, publisher, request, video=video, journal=tmp_path)

    for name in "AB":
        make(name)
    older = path.read_text()
    add_entry(path, kind="revocation", written_at=now)
    with Journal.of(tmp_path) as journal:
        keep_in_journal(journal, "B", path)
    path.write_text(older)
    add_to_dossier(path, kind="expiry", written_at=now, expires_at=now + dt.timedelta(9))
    with pytest.raises(ConsentUnproven, match="took the consent back"):
        make("A", "core-4.5")


def test_a_take_that_is_refused_while_the_journal_is_open_is_stopped_from_then_on(
    call, publisher, tmp_path
):
    video = listened_to(tmp_path / "t.mp4", Outcome.WARN)
    starts = [0.5 + 0.4 * place for place in range(14)]
    first, again = (said_at(video, f"{n}.mp4", MP4 + n.encode(), starts) for n in "12")
    with Journal.of(tmp_path, create=True) as journal:

        def make(take, person):
            request = ReplicaRequest(replica_name=person, model_name="core-4.5")
            call(make_replica, publisher, request, video=take, journal=journal)

        for take, person in ((first, "A"), (again, "B")):
            with pytest.raises(ConsentUnproven, match="is in doubt"):
                make(take, person)
        decide(tmp_path, "A", accept=False, by="Eve", because="it is somebody else")
        with pytest.raises(ConsentUnproven, match="the same take"):
            make(again, "B")
