"""A person decides about a doubt, and the run goes on from there."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from elements import Elements
from scripted_engine import Scripted, recorded
from standings import status

from palprep import decide
from palprep.batch import forget, kept_dossiers, take_in_again, write_messages, write_report
from palprep.batch.work.decision import TO_DO
from palprep.dossier import add_entry, examine_dossier, read_dossier
from palprep.errors import UsageError
from palprep.journal.entries.bodies import ConsentDecided
from palprep.journal.runs import RunReader
from palprep.journal.store import Journal, utc_now
from palprep.pipelines import add_to_dossier
from palprep.rules.texts import asks
from palprep.views import standing

EVE = {"by": "Éve Ödön", "because": "every word is there"}


def dossier_of(out):
    [path] = (out / "prepared").rglob("*.consent.json")
    return path


def stands(out) -> str:
    return standing(examine_dossier(dossier_of(out)), utc_now()).word


def test_an_accepted_doubt_lets_the_next_run_create_once(go, place, log, out):
    go(engine=Scripted("warn"))
    decision = decide(out, "jane-carter", accept=True, **EVE)
    [doubt] = decision.evidence.doubts
    assert (doubt.check, doubt.sentence) == ("consent_spoken", "A word was added.")
    assert (doubt.stretch.start_s, doubt.stretch.end_s) == (0.5, 9.0)
    [file] = decision.evidence.files
    assert (out / file.path).read_bytes() == (place / "training.mp4").read_bytes()
    assert recorded(out, ConsentDecided) == [ConsentDecided(decision=decision)]
    [waiting] = status(out).people
    assert waiting.status == "waiting"
    with Journal.of(out) as journal:
        assert not RunReader(journal).people[0].held
    assert waiting.reasons == (decision.words, "The next run goes on with it")
    assert log.creates == {}
    for _ in range(2):
        [person] = go(engine=Scripted("warn")).people
        assert person.status == "done"
        assert log.creates == {"voice": 1, "replica": 1}
    assert stands(out) == "HOLDS"
    entries = read_dossier(dossier_of(out)).entries
    assert [each.kind for each in entries] == ["evidence", "decision"]
    assert entries[1].decision == decision
    assert [each.reasons for each in status(out).people] == [(decision.words,)]
    assert decision.words in Elements((out / "report.html").read_text()).text


def test_a_decision_falls_with_the_file_that_it_was_taken_on(go, place, log, out):
    shutil.copy(place / "training.mp4", place / "consent.mp4")
    go(engine=Scripted("warn"))
    decision = decide(out, "jane-carter", accept=True, **EVE)
    (place / "training.mp4").write_bytes((place / "training.mp4").read_bytes() + b"\0")
    [person] = go(engine=Scripted("warn")).people
    assert (person.status, log.requests) == ("needs_decision", [])
    assert f"{decision.words} That counts no more" in " ".join(person.reasons)
    # The consent video is the same, and its dossier tells what became of the decision.
    assert stands(out) == "OPEN"
    assert [each.kind for each in read_dossier(dossier_of(out)).entries] == [
        "evidence", "decision", "lapse",
    ]  # fmt: skip
    again = decide(out, "jane-carter", accept=True, **EVE)
    assert stands(out) == "HOLDS"
    assert [each.decision for each in recorded(out, ConsentDecided)] == [decision, again]
    assert [each.status for each in go(engine=Scripted("warn")).people] == ["done"]


def test_a_refusal_falls_with_the_video_that_it_was_about(go, add, place, log, out):
    go(engine=Scripted("warn"))
    refusal = decide(out, "jane-carter", accept=False, by="Eve", because="it is somebody else")
    (place / "training.mp4").unlink()
    shutil.copy(add("x", portrait=True) / "portrait.heic", place)
    shutil.rmtree(place.parent / "x")
    (place / "person.toml").write_text('stock_voice = "gloria"')
    [person] = go().people
    assert (person.status, log.creates) == ("done", {"replica": 1})
    assert f"{refusal.words} That counts no more" in (person.consent_state.decided or "")


def test_a_decision_falls_with_a_new_doubt(go, place, log, out, monkeypatch):
    go(engine=Scripted("warn"))
    decide(out, "jane-carter", accept=True, **EVE)
    shutil.rmtree(out / "prepared")
    harsher = Scripted("warn")
    harsher.why = "Another word was added."
    [person] = go(engine=harsher).people
    assert (person.status, log.requests) == ("needs_decision", [])
    assert "Another word was added." in person.reasons[0]


def test_a_dossier_holds_what_the_replica_was_made_under(go, place, log, out):
    """Judged for the folder's name first, then for the full name that somebody wrote since."""
    go(engine=Scripted("fail"))
    assert (log.creates, stands(out)) == ({}, "VOID")
    (place / "person.toml").write_text('full_name = "Jane Ann Carter"')
    for _ in range(2):
        assert [each.status for each in go(engine=Scripted("pass")).people] == ["done"]
        entries = read_dossier(dossier_of(out)).entries
        assert [each.kind for each in entries] == ["evidence", "evidence"]
        assert [each.consent.full_name for each in entries] == ["Jane Carter", "Jane Ann Carter"]
    assert stands(out) == "HOLDS"
    assert examine_dossier(dossier_of(out)).flaws == ()


def test_a_refused_person_is_to_record_again_until_somebody_decides_otherwise(go, place, log, out):
    go(engine=Scripted("warn"))
    refusal = decide(out, "Jane Carter", accept=False, by="Eve", because="it is somebody else")
    assert [each.status for each in status(out).people] == ["redo"]
    for waived in (False, True):
        [person] = go(engine=Scripted("warn"), without_consent=waived).people
        assert (person.status, person.reasons[0]) == ("redo", refusal.words)
    assert person.reasons == (refusal.words, TO_DO["refused"])
    assert (log.requests, stands(out)) == ([], "VOID")
    decide(out, "jane-carter", accept=True, **EVE)
    assert [each.status for each in go(engine=Scripted("warn")).people] == ["done"]
    kinds = [each.kind for each in read_dossier(dossier_of(out)).entries]
    assert kinds == ["evidence", "decision", "decision"]
    # Taken back when the replica is there: it is told, and nothing is created again.
    decide(out, "jane-carter", accept=False, by="Eve", because="she took it back")
    assert [each.status for each in status(out).people] == ["redo"]
    assert [each.status for each in go(engine=Scripted("warn")).people] == ["redo"]
    assert log.creates == {"voice": 1, "replica": 1}


@pytest.mark.parametrize("step", ["create voice", "publish for replica", "create replica"])
@pytest.mark.parametrize("how", ["refused", "taken back"])
def test_what_is_said_during_a_run_holds_what_was_not_asked_for_yet(go, place, log, out, how, step):
    go(engine=Scripted("warn"))
    decide(out, "jane-carter", accept=True, **EVE)

    def tell(progress) -> None:
        if progress.step != step:
            return
        if how == "refused":
            decide(out, "jane-carter", accept=False, by="Eve", because="it is somebody else")
        else:
            add_to_dossier(dossier_of(out), kind="revocation", written_at=utc_now())

    [person] = go(engine=Scripted("warn"), tell=tell).people
    assert person.status == "waiting"
    assert "Not asked for: " in person.reasons[0]
    assert ("somebody else" if how == "refused" else "took the consent back") in person.reasons[0]
    made = {} if step == "create voice" else {"voice": 1}
    assert log.creates == made
    for waived in (False, True):
        [person] = go(engine=Scripted("warn"), without_consent=waived).people
        assert (person.status, log.creates) == ("redo", made)


@pytest.mark.parametrize("accept", [True, False])
def test_a_voice_goes_on_beside_the_decision(go, place, wav, log, out, accept):
    shutil.copy(wav, place / "recording.wav")
    go(engine=Scripted("warn"))
    decide(out, "jane-carter", accept=accept, **EVE)
    expected = "waiting" if accept else "redo"
    assert [each.status for each in status(out).people] == [expected]
    [person] = go(engine=Scripted("warn")).people
    assert person.status == ("done" if accept else "redo")
    assert log.creates == {"voice": 1, "replica": 1} if accept else {"voice": 1}


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"kind": "revocation"}, "training.mp4 (training-video): The person took the consent back"),
        ({"kind": "expiry", "expires_at": utc_now()}, "The consent expired on"),
    ],
)
def test_nothing_is_made_under_a_consent_that_is_over(go, place, log, out, entry, told):
    go(engine=Scripted("pass"), dry_run=True)
    add_entry(dossier_of(out), written_at=utc_now(), **entry)
    [person] = go(engine=Scripted("pass")).people
    assert (person.status, log.creates) == ("redo", {})
    assert told in person.reasons[0]
    assert stands(out) == "VOID"
    with pytest.raises(UsageError, match=told.partition(": ")[2] or told):
        decide(out, "jane-carter", accept=True, **EVE)
    # Nor is it waived: only a new statement helps.
    [person] = go(engine=Scripted("pass"), without_consent=True).people
    assert (person.status, person.waived, log.creates) == ("redo", (), {})
    assert person.reasons[1:] == (TO_DO["ended"],)
    [asked] = write_messages(out, place)
    assert asks("en")["consent_ended"].why in asked.text
    assert "was not heard" not in asked.text


@pytest.mark.parametrize("waived", [False, True])
def test_a_replica_that_outlives_its_consent_is_named(go, place, log, out, connection, waived):
    [before] = go(engine=Scripted("pass")).people
    add_to_dossier(dossier_of(out), kind="revocation", written_at=utc_now())
    [person] = go(engine=Scripted("pass"), without_consent=waived).people
    assert (person.status, person.blocked_by) == ("redo", ("consent_ended",))
    told = f"The replica {before.replica.id} was made before: the service still has it."
    assert told in person.reasons
    assert log.creates == {"voice": 1, "replica": 1}
    # Another service has nothing of it.
    elsewhere = replace(connection, base_url=connection.base_url.replace("127.0.0.1", "localhost"))
    [person] = go(engine=Scripted("pass"), without_consent=waived, connection=elsewhere).people
    assert (person.status, person.blocked_by) == ("redo", ("consent_ended",))
    assert "still has it" not in " ".join(person.reasons)


def test_what_failed_in_training_is_not_named_as_there(go, place, wav, log, out):
    shutil.copy(wav, place / "recording.wav")
    log.fault(on="asset", name="*recording*", effect="expired")
    [before] = go(engine=Scripted("pass")).people
    assert (before.voice.status, before.replica.status) == ("error", "completed")
    add_to_dossier(dossier_of(out), kind="revocation", written_at=utc_now())
    [person] = go(engine=Scripted("pass")).people
    told = [each for each in person.reasons if "still has it" in each]
    assert told == [f"The replica {before.replica.id} was made before: the service still has it."]


def test_a_consent_that_was_taken_back_stays_so_in_a_folder_of_another_name(go, place, log, out):
    go(engine=Scripted("pass"))
    add_to_dossier(dossier_of(out), kind="revocation", written_at=utc_now())
    place.rename(place.with_name("jc"))
    [person] = go(engine=Scripted("pass")).people
    assert (person.slug, person.status, person.blocked_by) == ("jc", "redo", ("consent_ended",))
    assert "The person took the consent back" in person.reasons[0]
    assert log.creates == {"voice": 1, "replica": 1}
    own, other = map(read_dossier, sorted((out / "prepared").rglob("*.consent.json")))
    assert other.revoked_at == own.revoked_at is not None
    assert other.entries[-1].note == "As recorded for jane-carter."


def test_a_consent_that_was_taken_back_does_not_count_again_once_the_person_is_forgotten(
    go, place, log, out
):
    go(engine=Scripted("pass"))
    add_to_dossier(dossier_of(out), kind="revocation", written_at=utc_now())
    forget(out, "jane-carter")
    place = place.rename(place.with_name("jc"))
    (place / "person.toml").write_text('name = "JC"\nfull_name = "Jane Carter"\n')
    [person] = go(engine=Scripted("pass")).people
    assert (person.slug, person.status) == ("jc", "failed")
    assert "Who had the same as jc was forgotten" in person.reasons[0]
    assert log.creates == {"voice": 1, "replica": 1}
    take_in_again(out, "jane-carter")
    assert [each.status for each in go(engine=Scripted("pass")).people] == ["done"]


def test_an_end_of_its_own_counts_before_that_of_the_same_source_in_another_folder(go, place, out):
    shutil.copytree(place, place.with_name("adverts"))
    go(engine=Scripted("pass"))
    adverts, own = sorted((out / "prepared").rglob("*.consent.json"))
    past, later = utc_now() - dt.timedelta(days=1), utc_now() + dt.timedelta(days=1)
    for path, until in ((own, later), (adverts, past)):
        add_to_dossier(path, kind="expiry", written_at=utc_now(), expires_at=until)
    for statuses in (["redo", "done"], ["done", "done"]):
        assert [each.status for each in go(engine=Scripted("pass")).people] == statuses
        assert read_dossier(own).expires_at == later
        add_to_dossier(adverts, kind="expiry", written_at=utc_now(), expires_at=later)
    # Where none is recorded, it ends as the other does.
    add_to_dossier(adverts, kind="expiry", written_at=utc_now(), expires_at=past)
    place.rename(place.with_name("jc"))
    assert [each.status for each in go(engine=Scripted("pass")).people] == ["redo", "redo"]


@pytest.mark.parametrize("heard", ["pass", "fail"])
def test_there_is_nothing_to_decide_without_a_doubt(go, place, out, heard):
    go(engine=Scripted(heard), dry_run=True)
    says = "nothing to decide" if heard == "pass" else "No decision gives jane-carter the consent"
    with pytest.raises(UsageError, match=says):
        decide(out, "jane-carter", accept=True, **EVE)
    assert recorded(out, ConsentDecided) == []


def test_who_decides_about_whom_and_why_must_be_said(go, add, place, out):
    for name in ("a-1", "a-2"):
        add(name, settings='name = "Ada"')
    go(engine=Scripted("warn"), dry_run=True)
    for changed, says in (
        ({"by": " "}, "needs the name"),
        ({"because": "\n"}, "and a reason"),
        ({"person": "janet"}, "janet is nobody in"),
        ({"person": "Ada"}, "Ada is the name of a-1, a-2"),
    ):
        with pytest.raises(UsageError, match=says):
            decide(out, **{"person": "jane-carter", "accept": True, **EVE, **changed})
    [prepared] = (out / "prepared/jane-carter/training-video").rglob("training.mp4")
    prepared.write_bytes(b"another")
    with pytest.raises(UsageError, match="has changed since it was judged"):
        decide(out, "jane-carter", accept=True, **EVE)


def test_decisions_at_once_keep_one_chain_and_one_order(go, place, out):
    go(engine=Scripted("warn"))
    script = (
        "import sys; from palprep import decide\n"
        "for n in range(5): decide(sys.argv[1], 'jane-carter', accept=n % 2 == 0, by=sys.argv[2], "
        "because=str(n))"
    )
    command = [sys.executable, "-c", script, str(out)]
    others = [subprocess.Popen([*command, name]) for name in ("Eve", "Mallory")]
    with ThreadPoolExecutor(4) as threads:
        mine = [
            threads.submit(decide, out, "jane-carter", accept=True, by="Ada", because=str(number))
            for number in range(8)
        ]
    assert all(each.result().accepted for each in mine)
    assert [each.wait() for each in others] == [0, 0]
    dossier = read_dossier(dossier_of(out))

    told = [each.decision for each in dossier.entries[1:]]
    assert told == [each.decision for each in recorded(out, ConsentDecided)]
    assert len(told) == 18
    [(path, kept)] = kept_dossiers(out).items()
    assert examine_dossier(path, kept=kept).flaws == ()


def test_a_journal_ahead_of_its_dossier_is_caught_up_with(go, place, out):
    go(engine=Scripted("warn"))
    path = dossier_of(out)
    before = path.read_bytes()
    decide(out, "jane-carter", accept=True, **EVE)
    path.write_bytes(before)
    [person] = go(engine=Scripted("warn")).people
    assert (person.status, stands(out)) == ("done", "HOLDS")


def test_names_and_reasons_are_shown_as_they_were_written_and_run_nothing(go, place, out):
    go(engine=Scripted("warn"))
    evil = "<script>alert('x')</script>\"&amp;\x1b[31m"
    decide(out, "jane-carter", accept=True, by=evil, because=evil)
    page = write_report(out).read_text()
    assert "<script>alert" not in page
    assert "<script>alert('x')</script>\"&amp;" in Elements(page).text
    [line] = (out / "results.jsonl").read_text().splitlines()
    assert json.loads(line)["status"] == "waiting"


def test_who_decided_is_forgotten_with_the_person(go, place, out):
    go(engine=Scripted("warn"))
    decide(out, "jane-carter", accept=True, by="Zacharias Quux", because="it is her")
    forget(out, "jane-carter")
    left = [path for path in out.rglob("*") if path.is_file() and b"Quux" in path.read_bytes()]
    assert left == []
    with pytest.raises(UsageError, match="jane-carter is nobody"):
        decide(out, "jane-carter", accept=True, **EVE)
