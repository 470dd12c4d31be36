"""The consent gate of make_replica, with both clients: what goes on, and what a waiver records."""

from __future__ import annotations

import datetime as dt
import hashlib

import pytest
from likeness import judge_likeness
from raw import MP4
from refusing import Refusing
from stated import GIVEN, listened_to, spoken

from palprep.dossier import add_entry, dossier_path, examine_dossier, keep_dossier, read_dossier
from palprep.errors import ConsentUnproven, JournalError, PublishError, UsageError
from palprep.journal import Journal
from palprep.journal.entries.bodies import ConsentWaived, DossierKept
from palprep.pipelines import (
    ReplicaRequest,
    add_to_dossier,
    consent as consent_gate,
    decide,
    make_replica,
)
from palprep.rules import Check
from palprep.values import Outcome
from palprep.views import standing

HEARD = {
    **{outcome.value: (spoken(outcome),) for outcome in Outcome},
    "no check": (),
    "left out": None,
}
"""What the report of a video can hold of the statement."""


def in_either(ready, heard, *, apart):
    """A video that states its consent, or a consent video next to one that nobody asked."""
    if not apart:
        return {"video": ready("t.mp4", MP4, HEARD[heard])}
    asked_no_one = ready("t.mp4", MP4, (spoken(Outcome.UNKNOWN),))
    return {"video": asked_no_one, "consent": ready("c.mp4", MP4 + b"1", HEARD[heard])}


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("heard", HEARD)
def test_only_heard_and_matching_consent_is_even_uploaded(call, ready, alike, heard, apart):
    alike(0.9)
    files, request = in_either(ready, heard, apart=apart), ReplicaRequest(replica_name="Ada")
    goes_on = heard == "pass"
    why = "in doubt.*" if heard == "warn" else ""
    refusal = rf"No replica is made: .*\.mp4: .*{why}without_consent=True"
    expected = (PublishError, "asked to publish") if goes_on else (UsageError, refusal)
    with pytest.raises(expected[0], match=expected[1]):
        call(make_replica, Refusing(), request, **files)
    with pytest.raises(PublishError):
        call(make_replica, Refusing(), request, without_consent=True, **files)


def test_a_consent_video_of_different_people_makes_no_replica(call, ready, alike):
    alike(0.9)
    swapped = Check(id="same_person_throughout", label="two faces", outcome=Outcome.FAIL)
    files = {
        "video": ready("t.mp4", MP4, (spoken(Outcome.UNKNOWN),)),
        "consent": ready("c.mp4", MP4 + b"1", (spoken(Outcome.PASS), swapped)),
    }
    with pytest.raises(ConsentUnproven, match=r"c\.mp4: two faces"):
        call(make_replica, Refusing(), ReplicaRequest(replica_name="Ada"), **files)


def test_what_is_no_truth_value_waives_no_consent_and_decides_nothing(call, ready, tmp_path):
    request = ReplicaRequest(replica_name="Ada", voice_name="gloria")
    with pytest.raises(UsageError, match="without_consent takes bool, not str"):
        call(make_replica, Refusing(), request, image=None, without_consent="no")
    video = listened_to(tmp_path / "t.mp4", Outcome.WARN)
    with pytest.raises(ConsentUnproven):
        call(make_replica, Refusing(), request, video=video, journal=tmp_path)
    with pytest.raises(UsageError, match="accept takes bool, not str"):
        decide(tmp_path, "Ada", accept="on hold", by="Eve", because="a word is missing")


def test_without_consent_no_face_is_compared(call, ready, monkeypatch):
    monkeypatch.setattr("palprep.preflight.same_person", None)
    files = in_either(ready, "unknown", apart=True)
    with pytest.raises(UsageError, match="is not known"):
        call(make_replica, Refusing(), ReplicaRequest(replica_name="Ada"), **files)


@pytest.mark.parametrize("heard", ["pass", "warn", "fail", "no check"])
def test_a_waiver_is_in_the_journal(call, publisher, journal, ready, heard):
    files, request = in_either(ready, heard, apart=False), ReplicaRequest(replica_name="Ada")
    replica = call(make_replica, publisher, request, without_consent=True, journal=journal, **files)
    waived = [entry for entry in journal.entries(ConsentWaived) if entry.key == replica.key]
    assert len(waived) == (0 if heard == "pass" else 1)
    assert all("t.mp4: " in entry.body.why[0] for entry in waived)


@pytest.mark.parametrize("without_consent", [True, False])
def test_a_consent_video_of_another_person_is_refused(call, ready, alike, without_consent):
    alike(0.1)
    video, consent = ready("t.mp4", MP4), ready("c.mp4", MP4 + b"1", GIVEN)
    request = ReplicaRequest(replica_name="Ada")
    with pytest.raises(UsageError, match="one and other show different people"):
        call(
            make_replica, Refusing(), request, video=video, consent=consent,
            without_consent=without_consent,
        )  # fmt: skip


def test_no_checks_of_other_files_are_taken_for_those_of_video_and_consent(call, ready, alike):
    alike(0.1)
    files = {"video": ready("t.mp4", MP4), "consent": ready("c.mp4", MP4 + b"1", GIVEN)}
    request, alike_elsewhere = ReplicaRequest(replica_name="Ada"), judge_likeness("t", "c", 0.9)
    for checks in ((), (alike_elsewhere,)):
        with pytest.raises(TypeError, match="compared"):
            call(make_replica, Refusing(), request, compared=checks, **files)


@pytest.mark.parametrize(
    ("voices", "refusal"),
    [
        (0.0, "one and other contain the voices of different people"),
        (0.3, "one and other may contain the voices .* in doubt.*without_consent=True"),
    ],
)
def test_another_voice_is_refused_and_one_that_may_be_another_waits(
    call, ready, alike, voices, refusal
):
    alike(0.9, voices)
    video, consent = ready("t.mp4", MP4), ready("c.mp4", MP4 + b"1", GIVEN)
    request = ReplicaRequest(replica_name="Ada")
    with pytest.raises(UsageError, match=refusal):
        call(make_replica, Refusing(), request, video=video, consent=consent)


def test_a_waiver_passes_over_a_doubtful_voice_and_says_so(call, publisher, journal, ready, alike):
    alike(0.9, 0.3)
    video, consent = ready("t.mp4", MP4), ready("c.mp4", MP4 + b"1", GIVEN)
    request = ReplicaRequest(replica_name="Ada")
    call(
        make_replica, publisher, request, video=video, consent=consent,
        without_consent=True, journal=journal,
    )  # fmt: skip
    (waived,) = journal.entries(ConsentWaived)
    assert "one and other may contain the voices" in waived.body.why[0]


@pytest.mark.parametrize(
    ("outcome", "kinds"),
    [
        (Outcome.PASS, ["evidence"]),
        (Outcome.WARN, ["evidence", "waiver"]),
        (Outcome.FAIL, ["evidence", "waiver"]),
    ],
)
def test_what_was_heard_is_kept_next_to_the_video(
    call, publisher, journal, tmp_path, outcome, kinds
):
    video = listened_to(tmp_path / "t.mp4", outcome)
    request = ReplicaRequest(replica_name="Ada")
    for _ in range(2):
        call(make_replica, publisher, request, video=video, without_consent=True, journal=journal)
        dossier = read_dossier(dossier_path(video))
        assert [entry.kind for entry in dossier.entries] == kinds
    assert dossier.evidence.person == "Ada"


def test_the_dossier_tells_of_the_faces_that_were_compared(
    call, publisher, ready, tmp_path, monkeypatch
):
    consent, request = (
        listened_to(tmp_path / "c.mp4", Outcome.PASS),
        ReplicaRequest(replica_name="A"),
    )
    video = ready("t.mp4", MP4)
    checks = (judge_likeness("t.mp4", "c.mp4", 0.9, (video.sha256, consent.sha256)),)
    monkeypatch.setattr("palprep.preflight.same_person", lambda _: checks)
    call(make_replica, publisher, request, video=video, consent=consent)
    kept = read_dossier(dossier_path(consent)).evidence.checks
    assert "same_person" in [check.id for check in kept]


def test_a_changed_dossier_stops_a_replica(call, ready, tmp_path):
    video, request = listened_to(tmp_path / "t.mp4", Outcome.PASS), ReplicaRequest(replica_name="A")
    path = keep_dossier(video, person="ada", written_at=dt.datetime.now(dt.UTC))
    path.write_text(path.read_text().replace('"ada"', '"eve"'))
    with pytest.raises(JournalError, match="was changed after it was written"):
        call(make_replica, Refusing(), request, video=video)


def test_a_decision_in_the_journal_opens_the_gate(call, publisher, journal, tmp_path):
    video = listened_to(tmp_path / "t.mp4", Outcome.WARN)
    request = ReplicaRequest(replica_name="Ada")
    with pytest.raises(ConsentUnproven, match=r"palprep\.decide") as held:
        call(make_replica, publisher, request, video=video, journal=journal)
    assert all(each in str(held.value) for each in held.value.doubts)
    assert held.value.doubts
    refused = decide(journal, "Ada", accept=False, by="Eve", because="a word is missing")
    for waive in (False, True):
        with pytest.raises(ConsentUnproven, match="a word is missing") as held:
            call(
                make_replica, publisher, request, video=video, journal=journal,
                without_consent=waive,
            )  # fmt: skip
        assert held.value.doubts == ()
    accepted = decide(journal, "Ada", accept=True, by="Eve", because="no, it is there")
    made = [call(make_replica, publisher, request, video=video, journal=journal) for _ in range(2)]
    assert len({each.id for each in made}) == 1
    dossier = read_dossier(dossier_path(video))
    assert [each.decision for each in dossier.entries] == [None, refused, accepted]
    assert dossier.in_force(journal.now())
    assert [each.kind for each in dossier.entries] == ["evidence", "decision", "decision"]


def test_a_refusal_during_the_upload_keeps_the_replica_from_being_asked_for(
    call, publisher, sandbox, tmp_path
):
    video, request = listened_to(tmp_path / "t.mp4", Outcome.WARN), ReplicaRequest(replica_name="A")
    with pytest.raises(ConsentUnproven):
        call(make_replica, publisher, request, video=video, journal=tmp_path)
    decide(tmp_path, "A", accept=True, by="Eve", because="it is there")

    class Slow:
        def publish(self, file, name=None):
            decide(tmp_path, "A", accept=False, by="Eve", because="a word is missing")
            return publisher.publish(file, name)

    with pytest.raises(ConsentUnproven, match="a word is missing"):
        call(make_replica, Slow(), request, video=video, journal=tmp_path)
    assert not any(sandbox.log()["creates"].values())


def test_a_revocation_stands_when_its_dossier_is_gone_or_an_older_copy_lies_there(
    call, publisher, tmp_path
):
    video, out = listened_to(tmp_path / "t.mp4", Outcome.PASS), tmp_path
    path = dossier_path(video)
    call(make_replica, publisher, ReplicaRequest(replica_name="Ada"), video=video, journal=out)
    older = path.read_text()
    add_to_dossier(path, kind="revocation", written_at=dt.datetime.now(dt.UTC))
    revoked = path.read_text()
    another = ReplicaRequest(replica_name="Ada", model_name="core-4.5")
    for spoil in (lambda: path.write_text(older), path.unlink):
        spoil()
        with pytest.raises(ConsentUnproven, match="took the consent back"):
            call(make_replica, Refusing(), another, video=video, journal=out)
        assert path.read_text() == revoked
    # The same original, prepared in another way.
    anew = video.path.with_name("cut.mp4")
    anew.write_bytes(MP4 + b"1")
    cut = video.model_copy(update={"path": anew, "sha256": "1" * 64})
    with pytest.raises(ConsentUnproven, match="took the consent back"):
        call(make_replica, Refusing(), another, video=cut, journal=out)


@pytest.mark.parametrize("forged", [False, True])
def test_no_entry_in_an_older_or_a_forged_dossier_undoes_what_the_journal_keeps(
    call, publisher, tmp_path, forged
):
    video, now = listened_to(tmp_path / "t.mp4", Outcome.PASS), dt.datetime.now(dt.UTC)
    path, request = dossier_path(video), ReplicaRequest(replica_name="Ada")
    call(make_replica, publisher, request, video=video, journal=tmp_path)
    older = path.read_text()
    add_to_dossier(path, kind="revocation", written_at=now)
    revoked = read_dossier(path).entries
    path.unlink() if forged else path.write_text(older)
    if forged:
        keep_dossier(video, person="Ada", written_at=now + dt.timedelta(1))
        with pytest.raises(JournalError, match="not the one that the journal of the run holds"):
            add_to_dossier(path, kind="expiry", written_at=now, expires_at=now + dt.timedelta(9))
        path.unlink()
    else:
        add_to_dossier(path, kind="expiry", written_at=now, expires_at=now + dt.timedelta(9))
    another = ReplicaRequest(replica_name="Ada", model_name="core-4.5")
    with pytest.raises(ConsentUnproven, match="took the consent back"):
        call(make_replica, Refusing(), another, video=video, journal=tmp_path)
    assert read_dossier(path).entries[:2] == revoked


def test_the_journal_keeps_what_another_program_adds_to_a_dossier_meanwhile(
    call, publisher, tmp_path, monkeypatch
):
    video, request = listened_to(tmp_path / "t.mp4", Outcome.PASS), ReplicaRequest(replica_name="A")

    def meanwhile(journal, person, path, *more):
        add_entry(path, kind="revocation", written_at=dt.datetime.now(dt.UTC))
        return keep(journal, person, path, *more)

    keep = consent_gate.keep_in_journal
    monkeypatch.setattr(consent_gate, "keep_in_journal", meanwhile)
    with pytest.raises(ConsentUnproven, match="took the consent back"):
        call(make_replica, publisher, request, video=video, journal=tmp_path)
    monkeypatch.undo()
    with Journal.of(tmp_path) as journal:
        kept = journal.entries(DossierKept, person="A")[-1].body.dossier
    assert [each["kind"] for each in kept["entries"]] == ["evidence", "revocation"]


@pytest.mark.parametrize("stopped", ["refused", "taken back"])
def test_a_waiver_passes_over_no_end_that_is_said_in_a_file_that_is_not_heard_or_gone(
    call, publisher, ready, alike, tmp_path, stopped
):
    alike(0.9)
    trained = ready("t.mp4", MP4 + b"1", None)
    files, request = {"video": trained, "journal": tmp_path}, ReplicaRequest(replica_name="A")
    given = listened_to(tmp_path / "c.mp4", Outcome.WARN)
    with pytest.raises(ConsentUnproven, match="in doubt"):
        call(make_replica, publisher, request, consent=given, **files)
    if stopped == "refused":
        decide(tmp_path, "A", accept=False, by="Eve", because="it took the consent back")
    else:
        add_to_dossier(dossier_path(given), kind="revocation", written_at=dt.datetime.now(dt.UTC))
    dossier_path(given).unlink()
    given.path.unlink()
    unheard = ready("c.mp4", MP4)
    for name, left in (("A", trained), ("B", unheard)):
        anew = ReplicaRequest(replica_name=name, model_name="core-4.5")
        with pytest.raises(ConsentUnproven, match="took the consent back"):
            call(
                make_replica, Refusing(), anew, video=left, without_consent=True, journal=tmp_path
            )  # fmt: skip
    said_anew = listened_to(tmp_path / "new.mp4", Outcome.PASS).model_copy(
        update={"source_sha256": "2" * 64, "sha256": "2" * 64}
    )
    with pytest.raises(PublishError):
        call(make_replica, Refusing(), anew, consent=said_anew, **files)


def test_a_new_statement_counts_where_the_one_in_the_training_video_was_taken_back(
    call, publisher, ready, alike, tmp_path
):
    alike(0.9)
    video = listened_to(tmp_path / "t.mp4", Outcome.PASS)
    call(make_replica, publisher, ReplicaRequest(replica_name="A"), video=video, journal=tmp_path)
    add_to_dossier(dossier_path(video), kind="revocation", written_at=dt.datetime.now(dt.UTC))
    apart, consent = ready("t.mp4", MP4, None), ready("c.mp4", MP4 + b"1", GIVEN)
    with pytest.raises(PublishError):
        call(
            make_replica, Refusing(), ReplicaRequest(replica_name="A", model_name="core-4.5"),
            video=apart, consent=consent, journal=tmp_path,
        )  # fmt: skip


def test_a_waiver_passes_over_no_refusal_when_the_consent_was_taken_back_as_well(
    call, publisher, tmp_path
):
    video = listened_to(tmp_path / "t.mp4", Outcome.WARN)
    request = ReplicaRequest(replica_name="Ada")
    with pytest.raises(ConsentUnproven):
        call(make_replica, publisher, request, video=video, journal=tmp_path)
    decide(tmp_path, "Ada", accept=False, by="Eve", because="a word is missing")
    add_to_dossier(dossier_path(video), kind="revocation", written_at=dt.datetime.now(dt.UTC))
    with pytest.raises(ConsentUnproven, match="a word is missing"):
        call(make_replica, Refusing(), request, video=video, journal=tmp_path, without_consent=True)


def test_a_video_that_was_replaced_leaves_no_flaw_in_its_dossier(call, publisher, tmp_path):
    request = ReplicaRequest(replica_name="Ada")
    first = listened_to(tmp_path / "t.mp4", Outcome.PASS)
    call(make_replica, publisher, request, video=first, journal=tmp_path)
    first.path.write_bytes(MP4 + b"1")
    digest = hashlib.sha256(MP4 + b"1").hexdigest()
    second = first.model_copy(update={"sha256": digest, "source_sha256": digest})
    call(make_replica, publisher, request, video=second, journal=tmp_path)
    states = {}
    for video in (first, second):
        found = examine_dossier(dossier_path(video))
        assert found.flaws == ()
        states[video.sha256] = found.files[0].state
    assert list(states.values()) == ["removed", "unchanged"]


def test_a_doubt_about_a_video_that_was_replaced_is_nobodys_question(call, publisher, tmp_path):
    request = ReplicaRequest(replica_name="Ada")
    first = listened_to(tmp_path / "t.mp4", Outcome.WARN)
    with pytest.raises(ConsentUnproven):
        call(make_replica, publisher, request, video=first, journal=tmp_path)
    now = dt.datetime.now(dt.UTC)
    assert standing(examine_dossier(dossier_path(first)), now).word == "OPEN"
    first.path.write_bytes(MP4 + b"1")
    digest = hashlib.sha256(MP4 + b"1").hexdigest()
    more = {"sha256": digest, "source_sha256": digest}
    second = listened_to(tmp_path / "t.mp4", Outcome.PASS).model_copy(update=more)
    second.path.write_bytes(MP4 + b"1")
    call(make_replica, publisher, request, video=second, journal=tmp_path)
    words = [standing(examine_dossier(dossier_path(each)), now).word for each in (first, second)]
    assert words == ["REPLACED", "HOLDS"]
