"""A doubt about consent in a run: what it holds, who is told, and how it goes on."""

from __future__ import annotations

import json
import shutil

import pytest
from scripted_engine import Scripted
from standings import status

from palprep.batch.engines.tasks import glimpse
from palprep.batch.people.selection import Selection
from palprep.batch.work import waiting
from palprep.batch.work.decision import TO_DO
from palprep.batch.work.pace import Pace
from palprep.cli.exits import ExitCode
from palprep.cli.results import Tally
from palprep.dossier import examine_dossier, read_dossier
from palprep.journal.store import utc_now
from palprep.pipelines import decide
from palprep.views import standing


@pytest.mark.parametrize("apart", [False, True])
def test_a_doubt_holds_all_that_is_made_of_the_video(go, place, log, out, apart):
    if apart:
        shutil.copy(place / "training.mp4", place / "consent.mp4")
    for _ in range(2):
        [person] = go(engine=Scripted("warn")).people
        assert person.status == "needs_decision"
        assert log.requests == []
    said_in = "consent.mp4 (consent-video)" if apart else "training.mp4 (training-video)"
    where = "Listen to the prepared file from 0.5 s to 9.0 s."
    assert person.reasons == (f"{said_in}: A word was added. {where}", TO_DO["open"])
    assert [each.status for each in status(out).people] == ["needs_decision"]
    [line] = [json.loads(text) for text in (out / "results.jsonl").read_text().splitlines()]
    assert (line["status"], line["reasons"]) == ("needs_decision", list(person.reasons))
    page = (out / "report.html").read_text()
    assert "What needs a decision" in page
    assert where in page
    [path] = (out / "prepared").rglob("*.consent.json")
    [dossier] = [examine_dossier(path)]
    assert standing(dossier, utc_now()).word == "OPEN"
    assert Tally([person]).exit_code() is ExitCode.IN_DOUBT


def test_a_recording_of_its_own_becomes_a_voice_beside_a_doubt(go, place, wav, log, out):
    shutil.copy(wav, place / "recording.wav")
    [asked] = go(engine=Scripted("warn"), pace=Pace(wait_s=0)).people
    assert Tally([asked]).exit_code() is ExitCode.IN_DOUBT
    [person] = go(engine=Scripted("warn")).people
    assert (person.status, person.voice.status) == ("needs_decision", "completed")
    assert person.reasons[0].startswith("Only the voice is made. training.mp4 (training-video): A")
    assert log.creates == {"voice": 1}
    [listed] = status(out).people
    assert (listed.status, Tally([person]).exit_code()) == ("needs_decision", ExitCode.IN_DOUBT)


class Withdrawn(Scripted):
    """Hears in one file that the consent is taken back."""

    where = "VID_7.mp4"

    def run(self, function, /, *args):
        found = super().run(function, *args)
        if function is glimpse and args[1] is not None and args[0].name == self.where:
            found = found.model_copy(update={"against": "I take my consent back."})
        return found


@pytest.mark.parametrize("where", ["VID_7.mp4", "note.wav", "training.mp4"])
def test_a_recording_that_takes_the_consent_back_holds_the_replica(go, place, wav, log, out, where):
    engine = Withdrawn()
    engine.where = where
    shutil.copy(place / "training.mp4", place / "consent.mp4")
    # A copy of a file with a role says nothing new.
    shutil.copy(place / "consent.mp4", place / "copy.mp4")
    shutil.copy(wav, place / "recording.wav")
    (place / "person.toml").write_text('[files]\nvoice-audio = "recording.wav"\n')
    source = wav if where == "note.wav" else place / "training.mp4"
    (place / where).write_bytes(source.read_bytes() + b"\0\0\0\x08free")
    for _ in range(2):
        [person] = go(engine=engine).people
        assert person.status == "needs_decision"
        assert log.creates == {"voice": 1}
    said = [each for each in person.reasons if "“I take my consent back.” is heard" in each]
    assert [each.partition(",")[0].removeprefix("Only the voice is made. ") for each in said] == [
        f"In {where}"
    ]
    [path] = (out / "prepared").rglob("*.consent.json")
    assert standing(examine_dossier(path), utc_now()).word == "OPEN"
    checks = [each.id for each in read_dossier(path).evidence.checks]
    assert checks.count("consent_not_taken_back") == 1
    decide(out, place.name, accept=True, by="Grace Hopper", because="an older one: she said so")
    [person] = go(engine=engine).people
    assert (person.status, log.creates) == ("done", {"voice": 1, "replica": 1})


def test_a_watch_ends_with_the_decision_that_is_needed(go, place, wav, out, connection):
    shutil.copy(wav, place / "recording.wav")
    go(engine=Scripted("warn"), pace=Pace(wait_s=0))
    [person] = waiting.watch(out, connection=connection, pace=Pace(wait_s=20)).people
    assert (person.status, person.voice.status) == ("needs_decision", "completed")


def test_a_dry_run_tells_of_the_decision(go, place, wav, log):
    shutil.copy(wav, place / "recording.wav")
    [person] = go(engine=Scripted("warn"), dry_run=True).people
    assert (person.status, log.requests) == ("needs_decision", [])


def test_a_waived_doubt_goes_on_and_is_on_record(go, place, log, out):
    [person] = go(engine=Scripted("warn"), without_consent=True).people
    assert (person.status, len(person.waived)) == ("done", 1)
    assert person.result.reasons[0].startswith("Gone on without consent: ")
    assert log.creates == {"voice": 1, "replica": 1}
    [path] = (out / "prepared").rglob("*.consent.json")
    assert [entry.kind for entry in read_dossier(path).entries] == ["evidence", "waiver"]


def test_what_is_recorded_again_ends_the_doubt(go, place, log):
    go(engine=Scripted("warn"))
    (place / "training.mp4").write_bytes((place / "training.mp4").read_bytes() + b"\0")
    [person] = go(engine=Scripted("pass"), select=Selection(failed=True)).people
    assert (person.status, person.reasons) == ("done", ())
    assert log.creates == {"voice": 1, "replica": 1}
