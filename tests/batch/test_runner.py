"""Whole runs against a real sandbox: results, refusals, doubts, and nothing created twice."""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from remember import Remembering
from standings import status

from palprep.batch.runner import run
from palprep.batch.work.connection import EMBEDDED, Connection
from palprep.batch.work.context import RunOptions
from palprep.batch.work.pace import Pace
from palprep.errors import (
    AuthenticationError,
    JournalError,
    OutputUnwritable,
    ServiceUnreachable,
    UsageError,
)
from palprep.journal import JOURNAL_NAME, Journal
from palprep.journal.entries.bodies import AssetPrepared
from palprep.preflight.comparison import candidates_in
from palprep.preflight.values import kinds_of
from palprep.sandbox import Sandbox
from palprep.values import Role
from palprep.workers import Limits

from .conftest import another_recording


def results(out):
    return [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]


def test_a_voice_and_a_replica_from_a_portrait(go, add, log, out):
    add("ada-lovelace", portrait=True, settings='stock_voice = "gloria"')
    [person] = go().people
    assert (person.status, person.reasons) == ("done", ())
    [result] = results(out)
    assert list(result) == [
        "person", "status", "voice_id", "voice_status", "replica_id", "replica_status",
        "reasons", "assets",
    ]  # fmt: skip
    assert result["person"] == "ada-lovelace"
    assert result["voice_status"] == result["replica_status"] == "completed"
    assert log.status(f"/v2/voices/{result['voice_id']}") == "completed"
    assert log.status(f"/v2/replicas/{result['replica_id']}") == "completed"
    assert log.creates == {"voice": 1, "replica": 1}
    assert {asset["role"] for asset in result["assets"]} == {"face-image", "voice-audio"}
    assert list(result["assets"][0]) == [
        "path", "role", "profile", "verdict", "passed", "error", "checks", "facts",
    ]  # fmt: skip
    again = go().people[0].result
    assert (again.voice_id, again.replica_id) == (result["voice_id"], result["replica_id"])
    assert log.creates == {"voice": 1, "replica": 1}
    assert "Ada Lovelace" in (out / "report.html").read_text()


def test_a_replica_from_videos_waits_for_consent(go, add, log, out):
    place = add("jane-carter", voice=False, training=True, consent=True,
                settings='full_name = "Mary Wollstonecraft"')  # fmt: skip
    [refused] = go().people
    assert refused.status == "redo"
    assert refused.reasons[0].startswith("consent.mp4 (consent-video): The name Mary ")
    assert "Wollstonecraft" in refused.reasons[0]
    assert log.requests == []
    (place / "person.toml").unlink()
    [person] = go().people
    assert (person.status, person.reasons) == ("done", ())
    assert log.creates == {"voice": 1, "replica": 1}
    assert person.consent.role is Role.CONSENT_VIDEO
    assert person.consent.report.consent.outcome == "pass"
    roles = {asset.role.value for asset in person.assets}
    assert roles == {"training-video", "consent-video", "voice-audio"}


def test_what_is_unfit_never_leaves_the_machine(go, add, log):
    place = add("bad", voice=False)
    (place / "training.mp4").write_text("no video at all")
    [person] = go().people
    assert person.status == "redo"
    assert "training.mp4 (training-video)" in person.reasons[0]
    assert "text" in person.reasons[0]
    assert log.requests == []
    assert person.result.assets[0].error.code == "media_unsupported"


def test_a_video_that_has_arrived_in_part_is_told_as_that_alone(go, add):
    place = add("ada", training=True, consent=True)
    whole = (place / "training.mp4").read_bytes()
    (place / "training.mp4").write_bytes(whole[: len(whole) // 3])
    [person] = go(dry_run=True, without_consent=True).people
    [told] = (each for each in person.reasons if "training.mp4 (training-video)" in each)
    assert "The file is cut off" in told
    assert "too short" not in told
    assert person.blocked_by[0] == "video_complete"
    assert "video_duration" in person.blocked_by


def test_one_persons_trouble_stops_nobody_else(go, add, log):
    (add("bad", voice=False) / "training.mp4").write_text("no video at all")
    add("empty", voice=False)
    (add("typo", settings='fullname = "x"') / "portrait.jpg").write_text("no image")
    add("good")
    people = {person.slug: person for person in go().people}
    assert {slug: person.status for slug, person in people.items()} == {
        "bad": "redo", "empty": "needs_answer", "good": "voice_only", "typo": "needs_answer",
    }  # fmt: skip
    assert people["empty"].blocked_by == ("folder_empty",)
    assert people["typo"].blocked_by[0] == "settings_unread"
    assert "did you mean full_name?" in people["typo"].reasons[0]
    assert "portrait.jpg (face-image) is a text file" in people["typo"].reasons[1]
    assert log.creates == {"voice": 1}


def test_a_dry_run_prepares_and_sends_nothing(go, add, log, out):
    add("ada", portrait=True, settings='stock_voice = "gloria"\nvoice_name = "Ada warm"')
    [person] = go(dry_run=True).people
    assert person.status == "waiting"
    [reason] = person.reasons
    assert reason.startswith("Dry run, nothing was sent: a voice named Ada warm and a replica ")
    assert log.requests == []
    assert (out / "prepared/ada/face-image/portrait.jpg").is_file()
    assert go().people[0].status == "done"


def test_files_are_prepared_once(go, add, out):
    add("ada")
    go(dry_run=True)
    prepared = out / "prepared/ada/voice-audio/recording.wav"
    first = prepared.stat().st_mtime_ns
    go(dry_run=True)
    assert prepared.stat().st_mtime_ns == first
    prepared.write_bytes(b"spoiled")
    go(dry_run=True)
    assert prepared.stat().st_size > 100_000


def looked_at(out) -> int:
    with Journal.of(out) as journal:
        return len(journal.entries(AssetPrepared))


def test_a_file_that_cannot_be_prepared_is_looked_at_once(go, add, folder, out, sample_media):
    broken = sample_media / "broken/truncated-portrait.heic"
    place = add("ada", voice=False, settings='stock_voice = "gloria"')
    shutil.copy(broken, place / "portrait.heic")
    [first] = go(dry_run=True).people
    assert (first.status, looked_at(out)) == ("redo", 1)
    [again] = go(dry_run=True).people
    assert (again.reasons, looked_at(out)) == (first.reasons, 1)
    assert again.assets == first.assets
    shutil.copy(sample_media / "people/jane-carter/portrait.heic", place)
    assert go(dry_run=True).people[0].status == "waiting"
    assert looked_at(out) == 2


def test_the_name_of_a_voice_names_no_stock_voice(go, add, log):
    add("ada", portrait=True, settings='voice_name = "Ada warm"')
    [person] = go().people
    assert (person.status, log.creates) == ("voice_only", {"voice": 1})


def test_an_unfit_file_that_nothing_needs_vetoes_nobody(go, add, log, out):
    (add("ada") / "portrait.jpg").write_text("no image at all")
    [person] = go().people
    assert person.status == "voice_only"
    [reason] = results(out)[0]["reasons"]
    assert reason.startswith("Left out: portrait.jpg (face-image) is a text file")
    assert log.creates == {"voice": 1}


def test_of_several_portraits_the_fittest_is_taken_and_said(go, add, log, sample_media, cache):
    place = add("ada", portrait=True, settings='stock_voice = "gloria"')
    (place / "portrait.heic").rename(place / "IMG_1.heic")
    shutil.copy(sample_media / "broken/landscape-without-a-face.jpg", place / "IMG_2.jpg")
    (place / "IMG_3.jpg").write_text("no image at all")
    (place / "IMG_4.jpg").write_bytes((place / "IMG_2.jpg").read_bytes()[:300])
    asked = []

    class Listening(Remembering):
        def run(self, function, /, *args, **kwargs):
            asked.append(function)
            return super().run(function, *args, **kwargs)

    reasons = ()
    for _ in range(2):
        [person] = go(engine=Listening(cache), dry_run=True).people
        assert [each.source for each in person.assets if each.role is Role.FACE_IMAGE] == [
            str(place / "IMG_1.heic")
        ]
        picked = "IMG_1.heic is the portrait: it is fitter than IMG_2.jpg, IMG_4.jpg. "
        assert any(reason.startswith(picked) for reason in person.reasons)
        compared = asked.count(candidates_in)
        assert compared == 3  # Each image for itself, and once.
        reasons = reasons or person.reasons
    assert "as an image, IMG_4.jpg was not compared: " in ", ".join(reasons)


def test_a_failed_start_changes_nothing_of_an_earlier_run(go, add, out, connection):
    add("ada")
    go()
    before = (out / "results.jsonl").read_text()
    with pytest.raises(ServiceUnreachable, match="Dask"):
        go(engine="dask://127.0.0.1:9")
    add("bob")
    with pytest.raises(UsageError, match="PALPREP_API_KEY"):
        go(connection=replace(connection, api_key=None))
    assert (out / "results.jsonl").read_text() == before
    [ada] = status(out).people
    assert (ada.status, ada.voice_status) == ("voice_only", "completed")


def test_equal_people_share_what_was_created(go, add, log):
    for slug in ("one", "two"):
        add(slug, settings='name = "Ada"')
    first, second = go().people
    assert first.status == second.status == "voice_only"
    assert first.voice.id == second.voice.id
    assert log.creates == {"voice": 1}


def test_a_changed_recording_is_a_new_voice_and_the_old_one_is_named(go, add, log):
    place = add("ada")
    [before] = go().people
    another_recording(place)
    old = f"The voice {before.voice.id} was made before: the service still has it."
    assert (go().people[0].reasons, before.reasons, log.creates) == ((old,), (), {"voice": 2})


def test_a_defect_at_one_person_is_reported_as_such(go, add, cache, caplog):
    add("ada")
    add("bob")

    class Broken(Remembering):
        def run(self, function, /, *args, **kwargs):
            if function is not kinds_of and "ada" in str(args[0]):
                raise ZeroDivisionError("oops")
            return super().run(function, *args, **kwargs)

    with caplog.at_level("DEBUG", "palprep.batch"):
        ada, bob = go(engine=Broken(cache)).people
    assert ada.status == "failed"
    assert ada.reasons == ("Unexpected ZeroDivisionError: oops. Please report this",)
    assert bob.status == "voice_only"
    assert "unexpected error at ada" in caplog.text


def test_nobody_to_work_on(go, tmp_path, out):
    with pytest.raises(UsageError, match="holds nobody"):
        go()
    assert not out.exists()


def test_an_unknown_profile_is_the_commands_error(go, add):
    add("ada")
    with pytest.raises(UsageError, match="There is no profile"):
        go(profile="core-9")


def test_a_profile_is_named_as_a_path_or_as_text(go, add, tmp_path):
    add("ada")
    mine = tmp_path / "mine.toml"
    mine.write_text('extends = "core-4"\n', encoding="utf-8")
    steps: list[str] = []
    for profile in (mine, str(mine)):
        steps.append("run")
        run = go(profile=profile, tell=lambda progress: steps.append(progress.step))
        assert run.head.profile == str(mine)
    assert steps[-1] == "run"  # It is the same profile, so that nothing is left to do.


def test_an_output_that_cannot_be_a_folder(go, add, tmp_path):
    add("ada")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputUnwritable, match="where the folder should be; choose another"):
        go(into=tmp_path / "file")
    with pytest.raises(OutputUnwritable, match="cannot be written"):
        go(into=tmp_path / "file" / "below")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OutputUnwritable, match="where the folder should be; choose another"):
        go(into=tmp_path / "loop")


def test_the_people_and_an_address_are_no_output_folder(add, folder):
    add("ada", voice=True)
    for into in (folder / ".", folder / "ada"):
        with pytest.raises(UsageError, match="holds what the people have sent: name another"):
            run(folder, into=into)
    with pytest.raises(UsageError, match="s3://bucket/out is an address"):
        run(folder, into="s3://bucket/out")
    assert [each.name for each in folder.iterdir()] == ["ada"]
    assert [each.name for each in (folder / "ada").iterdir()] == ["recording.wav"]


def test_a_second_run_into_the_same_folder(go, add, out):
    add("ada")
    go()
    with Journal(out / JOURNAL_NAME, lock=True), pytest.raises(JournalError, match="Another run"):
        go()


def test_missing_pieces_are_named_before_anything_is_sent(go, add, connection):
    add("ada")
    far = "https://api.example.com"
    with pytest.raises(UsageError, match="--publish-to"):
        go(connection=replace(connection, base_url=far))
    with pytest.raises(UsageError, match="PALPREP_API_KEY"):
        go(connection=replace(connection, api_key=None))


def test_a_script_asks_the_service_that_the_environment_names(
    add, folder, out, log, sandbox, monkeypatch
):
    add("ada")
    monkeypatch.setenv("PALPREP_BASE_URL", sandbox.url)
    monkeypatch.setenv("PALPREP_API_KEY", sandbox.user_key)
    seen = run(folder, into=out)
    assert (seen.head.target, seen.people[0].status) == (sandbox.url, "voice_only")
    assert log.creates == {"voice": 1}
    assert sandbox.user_key not in repr(RunOptions())
    assert Connection(base_url=None).target == EMBEDDED


def test_the_embedded_sandbox_keeps_its_state(go, add, out):
    add("ada")
    first = go(connection=None, pace=Pace(wait_s=300)).people[0]
    assert (first.status, first.reasons) == ("voice_only", ())
    second = go(connection=None).people[0]
    assert second.voice.id == first.voice.id
    assert (out / "sandbox").is_dir()


def test_a_file_that_takes_too_much_is_that_files_finding(add, folder, out, monkeypatch):
    """It is named in the reasons, and nobody's work ends in an error."""
    monkeypatch.undo()  # What other tests have measured takes no memory.
    add("ada", portrait=True, settings='stock_voice = "gloria"')
    add("bob")
    limits = Limits(memory_bytes=60_000_000)
    seen = run(folder, into=out, options=RunOptions(dry_run=True, jobs=1, limits=limits))
    reasons = [reason for person in seen.people for reason in person.reasons]
    for name in ("portrait.heic (face-image)", "recording.wav (voice-audio)"):
        told = f"{name}: The work at this file takes more than 57 MiB of memory"
        assert any(each.startswith(told) for each in reasons), reasons
    assert not any("picture" in each for each in reasons)
    assert [person.status for person in seen.people] == ["redo", "redo"]


def test_a_wrong_key_ends_the_run_before_any_work(go, add, connection, out):
    add("ada")
    with pytest.raises(AuthenticationError):
        go(connection=replace(connection, api_key="wrong"))
    assert not (out / "prepared").exists()


def test_a_service_that_goes_away_for_a_while_fails_nobody(go, add, tmp_path):
    """It goes when the work begins, and is back a little later, on the same port."""
    add("ada")
    data, closed = tmp_path / "elsewhere", threading.Event()
    with contextlib.ExitStack() as there:
        service = there.enter_context(Sandbox(data=data))
        port = urlsplit(service.url).port

        def gone(*_: object) -> None:
            if not closed.is_set():
                closed.set()
                there.close()
                threading.Timer(1.0, back).start()

        def back() -> None:
            there.enter_context(Sandbox(data=data, port=port))

        connection = Connection(base_url=service.url, api_key=service.user_key)
        [ada] = go(connection=connection, tell=gone, pace=Pace(wait_s=30)).people
        assert closed.is_set()
        assert (ada.status, ada.reasons) == ("voice_only", ())
