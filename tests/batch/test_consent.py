"""Consent in a run: what refuses, what a waiver records, and where the statement may be."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from likeness import judge_likeness
from scripted_engine import Scripted, recorded

from palprep import consent
from palprep.batch.engines.tasks import (
    AssetTask,
    compare_people,
    why_unheard,
)
from palprep.batch.work import waiting
from palprep.batch.work.pace import Pace
from palprep.consent import Whisper
from palprep.consent.wording import required_statement
from palprep.dossier import examine_dossier, read_dossier
from palprep.errors import ToolFailed, ToolMissing
from palprep.facts import Speaker
from palprep.journal import Journal, give_code
from palprep.journal.entries.bodies import (
    ConsentWaived,
    DossierKept,
    FileJudged,
    Intent,
    RunStarted,
    SandboxStatement,
)
from palprep.preflight import media_workers, verify_consent
from palprep.values import Role


def test_a_training_video_that_opens_with_consent_is_enough(go, place, log):
    engine = Scripted()
    [person] = go(engine=engine).people
    assert (person.status, person.reasons) == ("done", ())
    assert engine.tasks[Role.TRAINING_VIDEO].speaker.full_name == "Jane Carter"
    assert engine.tasks[Role.VOICE_AUDIO].speaker is None
    assert log.creates == {"voice": 1, "replica": 1}


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("heard", ["fail", "unknown", "no check"])
def test_without_consent_nothing_is_uploaded(go, place, log, heard, apart):
    if apart:
        shutil.copy(place / "training.mp4", place / "consent.mp4")
    [person] = go(engine=Scripted(heard)).people
    assert person.status == "redo"
    said_in = "consent.mp4 (consent-video)" if apart and heard == "fail" else "training.mp4 (train"
    assert said_in in person.reasons[0]
    why = "does not ask for consent_spoken" if heard == "no check" else "A word was added."
    assert why in person.reasons[0]
    assert "run with --without-consent" in person.reasons[-1]
    assert log.requests == []
    [person] = go(engine=Scripted(heard), without_consent=True).people
    assert person.status == "done"
    assert person.result.reasons[0].startswith("Gone on without consent: ")


def test_a_person_whose_settings_waive_consent_goes_on_alone(go, place, add, log, out):
    (place / "person.toml").write_text('full_name = "Jane Carter"\nwithout_consent = true')
    (add("ada") / "training.mp4").write_bytes((place / "training.mp4").read_bytes() + b"\0")
    jane, ada = sorted(go(engine=Scripted("fail")).people, key=lambda each: -len(each.slug))
    assert (jane.status, ada.status) == ("done", "redo")
    assert jane.result.reasons[0].startswith("Gone on without consent: ")
    assert [entry.why for entry in recorded(out, ConsentWaived)] == [jane.waived]
    assert log.creates == {"voice": 2, "replica": 1}  # Ada's recording becomes a voice.


def test_a_file_is_asked_for_the_code_that_was_given_out(go, place, out):
    with Journal.of(out, create=True) as journal:
        code = give_code(journal, "Jane Carter")
        give_code(journal, "Ada Lovelace")
    engine, again = Scripted("warn"), Scripted("warn")
    go(engine=engine)
    asked = engine.tasks[Role.TRAINING_VIDEO].speaker.code
    assert asked.words == code.words
    assert code.given_at < asked.judged_at < code.ends_at
    assert engine.tasks[Role.VOICE_AUDIO].speaker is None
    go(engine=again)
    assert again.tasks == {}
    with Journal.of(out) as journal:
        [judged] = journal.entries(FileJudged)
    assert judged.body.name == "training.mp4"


def test_a_waiver_goes_on_where_no_statement_is_known(go, place, log):
    (place / "person.toml").write_text('statement = "own.txt"')
    (place / "own.txt").write_text("")
    engine = Scripted("unknown")
    [refused] = go(engine=engine).people
    assert "own.txt" in refused.reasons[0]
    assert (refused.status, refused.blocked_by) == ("needs_answer", ("folder_unclear",))
    assert {task.speaker for task in engine.tasks.values()} == {None}
    [waived] = go(engine=engine, without_consent=True).people
    assert waived.status == "done"
    assert waived.result.reasons[0].startswith("Gone on without consent: ")
    assert engine.tasks[Role.TRAINING_VIDEO].speaker is None


def test_where_no_one_can_listen_nothing_is_worked_on(go, place, add, log, out):
    add("ada")
    engine = Scripted(deaf="The Whisper model is not installed: run this")
    people = {person.slug: person for person in go(engine=engine).people}
    jane = people["jane-carter"]
    assert jane.status == "needs_answer"
    assert jane.reasons[0] == (
        "Consent cannot be verified: The Whisper model is not installed: run this"
    )
    assert jane.reasons[-1].startswith("No video was prepared")
    assert "run with --without-consent" in jane.reasons[-1]
    assert engine.asked == [Role.TRAINING_VIDEO]
    assert set(engine.tasks) == {Role.VOICE_AUDIO}  # Ada's.
    assert people["ada"].status == "voice_only"
    assert log.creates == {"voice": 1}
    waived = {person.slug: person for person in go(engine=engine, without_consent=True).people}
    assert waived["jane-carter"].status == "done"
    again = {person.slug: person for person in go(engine=engine).people}
    assert again["jane-carter"].status == "done"  # What was heard before still counts.


def test_where_no_one_can_listen_a_recording_still_becomes_a_voice(go, place, wav, log):
    shutil.copy(wav, place / "recording.wav")
    engine = Scripted(deaf="The Whisper model is not installed: run this")
    [person] = go(engine=engine).people
    assert (person.status, person.replica) == ("redo", None)
    assert person.reasons[0].startswith("Only the voice is made. Consent cannot be verified")
    assert set(engine.tasks) == {Role.VOICE_AUDIO}
    assert log.creates == {"voice": 1}


def test_without_consent_only_a_recording_of_its_own_becomes_a_voice(go, place, wav, log):
    shutil.copy(wav, place / "recording.wav")
    [person] = go(engine=Scripted("fail")).people
    assert (person.status, person.result.voice_status) == ("redo", "completed")
    assert person.reasons[0].startswith("Only the voice is made. ")
    assert "A word was added." in person.reasons[0]
    assert log.creates == {"voice": 1}


def test_a_portrait_needs_no_one_to_listen(go, add, light_people):
    place = add("ada", portrait=True, settings='stock_voice = "gloria"')
    shutil.copy(light_people / "jane-carter/consent.mp4", place / "consent.mp4")
    engine = Scripted(deaf="The Whisper model is not installed: run this")
    [person] = go(engine=engine, dry_run=True).people
    assert (person.status, engine.asked) == ("waiting", [])
    assert "a replica named Ada from the face-image would be created" in person.reasons[0]


def task_of(profile="core-4", language="en"):
    speaker = Speaker(full_name="Jane Carter", statement="I, {full_name}.", language=language)
    return AssetTask(source="x.mp4", into="out", role=Role.TRAINING_VIDEO, profile=profile,
                     pictures="pictures", speaker=speaker)  # fmt: skip


def test_what_is_missing_to_listen_is_named(monkeypatch, tmp_path):
    assert why_unheard(task_of()) is None
    assert why_unheard(task_of().model_copy(update={"speaker": None})) is None
    assert "does not know the language 'de'" in why_unheard(task_of(language="de"))
    own = tmp_path / "own.toml"
    own.write_text('name = "own"\nextends = "core-4"\ndisable = ["consent_spoken"]\n')
    assert "Profile own does not ask for consent_spoken" in why_unheard(task_of(str(own)))
    own.write_text('name = "own"\nextends = "core-4"\n# Another one.\n')
    for error in (ToolMissing("It is not installed"), ToolFailed("It is damaged")):

        def fails(directory=None, error=error):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(Whisper, "load", fails)
            assert why_unheard(task_of(str(own))) == error.message


@pytest.mark.parametrize("linked", [False, True])
def test_isolated_workers_may_open_the_users_own_model(linked, own_model, jane, tmp_path):
    if linked:  # As caches of models hold their files.
        (tmp_path / "blobs").mkdir()
        for each in [*own_model.iterdir()]:
            each.symlink_to(each.rename(tmp_path / "blobs" / each.name))
    speaker = Speaker(full_name="Jane Carter", whisper_model=own_model)
    task = task_of().model_copy(update={"speaker": speaker})
    with media_workers(1) as engine:
        engine.may_open(writes=[tmp_path / "out"])
        assert engine.run(why_unheard, task) is None
    with media_workers(1) as engine:
        asked = {"full_name": "Jane Carter", "whisper_model": own_model}
        assert engine.run(verify_consent, jane[1], **asked).outcome.passed


def test_a_waiver_goes_on_and_is_on_record_everywhere(go, place, log, out):
    [person] = go(engine=Scripted("fail"), without_consent=True).people
    assert person.status == "done"
    assert log.creates == {"voice": 1, "replica": 1}
    [line] = [json.loads(text) for text in (out / "results.jsonl").read_text().splitlines()]
    [reason] = line["reasons"]
    said, _, why = reason.partition(": ")
    assert said == "Gone on without consent"
    assert "training.mp4 (training-video): Consent statement A word was added." in why
    training = next(asset for asset in line["assets"] if asset["role"] == "training-video")
    assert training["verdict"] == "fail"
    assert "Consent was waived" in (out / "report.html").read_text()
    assert recorded(out, RunStarted)[0].without_consent is True
    assert recorded(out, ConsentWaived)[0].why == (why,)
    [path] = (out / "prepared").rglob("*.consent.json")
    assert [entry.kind for entry in read_dossier(path).entries] == ["evidence", "waiver"]
    assert not read_dossier(path).in_force(read_dossier(path).evidence.written_at)
    assert examine_dossier(path).flaws == ()
    go(engine=Scripted("fail"), without_consent=True)
    assert len(read_dossier(path).entries) == 2
    assert log.creates == {"voice": 1, "replica": 1}


def test_the_embedded_sandbox_fails_the_training_of_a_waived_replica(go, place, light_people):
    shutil.copy(light_people / "jane-carter/training.mp4", place / "training.mp4")
    # The trainer listens, which takes a while on a busy machine.
    seen = go(engine=Scripted("fail"), connection=None, without_consent=True, pace=Pace(wait_s=300))
    [person] = seen.people
    assert (person.status, person.result.replica_status) == ("failed", "error")
    waived, training = person.result.reasons
    assert waived.startswith("Gone on without consent: training.mp4 (training-video)")
    assert "ended in error: consent: the required statement was not heard" in training
    assert "of the training video" in training


def test_a_model_of_the_users_own_listens_everywhere(go, place, out, light_people, tmp_path):
    for name in ("training.mp4", "consent.mp4"):
        shutil.copy(light_people / "jane-carter" / name, place / name)
    own = tmp_path / "whisper-small"
    own.mkdir()
    for path in Path(consent.__file__).parent.glob("weights/whisper_*"):
        (own / path.name).symlink_to(path)
    engine = Scripted()
    seen = go(engine=engine, connection=None, whisper_model=own, pace=Pace(wait_s=300))
    [person] = seen.people
    assert (person.status, person.result.reasons) == ("done", ())
    assert engine.tasks[Role.CONSENT_VIDEO].speaker.whisper_model == own
    [started] = recorded(out, RunStarted)
    assert [each.model for each in started.statements] == [own]


def test_a_model_that_is_not_there_is_told_before_the_work(go, place, out, tmp_path):
    with pytest.raises(ToolMissing, match="holds no Whisper model"):
        go(engine=Scripted(), whisper_model=tmp_path)
    assert not out.exists()


def test_a_later_watch_of_an_embedded_sandbox_knows_the_statements(go, place, out, monkeypatch):
    (place / "person.toml").write_text('statement = "own.txt"')
    (place / "own.txt").write_text("I, {full_name}, agree.")
    go(engine=Scripted(), connection=None, pace=Pace(wait_s=0))
    given = []

    def connect(connection, journal, into, statements, **options):
        given.extend(statements)
        raise ToolFailed("seen enough")

    monkeypatch.setattr(waiting, "connect", connect)
    with pytest.raises(ToolFailed, match="seen enough"):
        waiting.watch(out)
    assert given == [
        SandboxStatement(text=required_statement()),
        SandboxStatement(text="I, {full_name}, agree."),
    ]


def test_a_waiver_of_one_run_does_not_hold_for_the_next(go, place, log):
    go(engine=Scripted("fail"), without_consent=True)
    [person] = go(engine=Scripted("fail")).people
    assert person.status == "redo"
    assert person.waived == ()


def test_beside_a_consent_video_the_training_video_is_not_asked(go, place, light_people, out):
    shutil.copy(light_people / "jane-carter/consent.mp4", place / "consent.mp4")
    engine = Scripted()
    [person] = go(engine=engine).people
    assert person.status == "done"
    assert engine.tasks[Role.TRAINING_VIDEO].consent_apart
    assert engine.tasks[Role.TRAINING_VIDEO].speaker is None
    [path] = (out / "prepared").rglob("*.consent.json")
    assert path.parent.name == "consent-video"
    evidence = read_dossier(path).evidence
    assert [(check.id, check.outcome) for check in evidence.checks] == [
        ("consent_spoken", "pass"), ("same_person", "pass"),
    ]  # fmt: skip
    kept = recorded(out, DossierKept)[0]
    assert kept.dossier["entries"][0]["sha256"] == evidence.sha256


def test_the_statement_can_be_split_out_for_the_replica(go, place, log, out):
    (place / "person.toml").write_text("split_consent = true")
    engine = Scripted()
    [person] = go(engine=engine).people
    assert (person.status, person.reasons) == ("done", ())
    assert engine.tasks[Role.TRAINING_VIDEO].split_consent
    assert {asset.role for asset in person.assets} == {
        Role.TRAINING_VIDEO, Role.CONSENT_VIDEO, Role.VOICE_AUDIO,
    }  # fmt: skip
    intent = next(each for each in recorded(out, Intent) if each.what == "replica")
    assert set(intent.request["sources"]) == {"training-video", "consent-video"}
    engine.tasks.clear()
    go(engine=engine)
    assert engine.tasks == {}
    (clip,) = (out / "prepared").rglob("x-consent.mp4")
    clip.unlink()
    go(engine=engine)
    assert set(engine.tasks) == {Role.TRAINING_VIDEO}


def test_a_statement_of_the_persons_own_is_listened_for(go, place, out):
    (place / "person.toml").write_text('statement = "own.txt"')
    (place / "own.txt").write_text("I, {full_name}, agree.\n")
    engine = Scripted()
    go(engine=engine, dry_run=True)
    assert engine.tasks[Role.TRAINING_VIDEO].speaker.statement == "I, {full_name}, agree."
    assert [each.own_statement for each in recorded(out, RunStarted)[-1].people] == [
        "I, Jane Carter, agree."
    ]
    (place / "own.txt").write_text("I, Charles, agree.\n")
    [person] = go(engine=engine, dry_run=True).people
    assert person.status == "needs_answer"
    assert "names nobody called Jane Carter" in person.reasons[0]


def test_all_that_is_wrong_is_told_in_one_round(go, place):
    """Settings that cannot be read, and videos of two people."""
    (place / "person.toml").write_text('fullname = "Jane"')
    (place / "consent.mp4").write_bytes((place / "training.mp4").read_bytes() + b"\0")

    class Other(Scripted):
        def run(self, function, /, *args):
            if function is compare_people:
                return (judge_likeness("training.mp4", "consent.mp4", 0.03),)
            return super().run(function, *args)

    engine = Other("fail")
    [person] = go(engine=engine).people
    assert person.status == "needs_answer"
    assert person.blocked_by == ("settings_unread", "same_person")
    typo, people = person.reasons
    assert "did you mean full_name?" in typo
    assert "training.mp4 and consent.mp4 show different people" in people
    assert engine.tasks[Role.TRAINING_VIDEO].speaker is None
    (place / "person.toml").unlink()
    [person] = go(engine=engine).people
    assert person.status == "redo"
    assert {"same_person", "consent_spoken"} <= {*person.blocked_by}
    assert people in person.reasons


def test_who_has_neither_a_recording_nor_a_stock_voice_is_told_before_any_work(go, add):
    add("ada", voice=False, portrait=True)
    add("bob", voice=False, portrait=True, settings='stock_voice = "gloria"')
    told = []
    engine = Scripted()
    go(engine=engine, dry_run=True, note=lambda note: told.append((note, dict(engine.tasks))))
    [(note, tasks)] = [each for each in told if each[0].about == "lacking"]
    assert note.text == "1 person: no recording, and no stock_voice (ada)"
    assert tasks == {}
