"""From prepared files to a verdict, a voice and a replica, against a real sandbox.

Every test is done by both clients: the functions are the same.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import anyio
import httpx
import pytest
from raw import JPEG, MP4, WAV
from stated import GIVEN

from palprep.client import AsyncClient
from palprep.errors import JournalError, OutcomeUnknown, PublishError, UsageError, WaitTimeout
from palprep.journal import Journal, callback_server
from palprep.journal.creations import Creation, CreationState, resolve_retry
from palprep.journal.entries.bodies import CalledBack
from palprep.pipelines import (
    Creator,
    ReplicaRequest,
    VoiceRequest,
    create,
    make_replica,
    make_voice,
    validate_face,
)
from palprep.values import Role

ADA = VoiceRequest(voice_name="Ada")


def fault(sandbox, **wanted):
    reply = httpx.post(f"{sandbox.url}/_sandbox/faults", json=[wanted], trust_env=False)
    assert reply.is_success, reply.text


def creates(sandbox):
    log = httpx.get(f"{sandbox.url}/_sandbox/log", trust_env=False).json()
    return {kind: count for kind, count in log["creates"].items() if count}


def test_what_is_said_of_a_replica_that_was_refused_at_once_is_kept(
    call, sandbox, publisher, ready
):
    why = "the statement is missing"
    body = {"replica_id": "r1", "status": "error", "error_message": why}
    fault(sandbox, on="request", endpoint="replicas.create", status=200, body=body)
    request = ReplicaRequest(replica_name="Ada", voice_name="gloria")
    made = call(make_replica, publisher, request, image=ready("face.jpg", JPEG))
    assert (made.state, made.error_message) == ("error", why)


def test_a_voice_is_waited_for(call, client, publisher, ready):
    request = VoiceRequest(voice_name="Ada", description="d", tags=("one", "two"))
    voice = call(make_voice, publisher, ready("voice.wav", WAV), request)
    assert voice.ended
    record = client.voices.get(voice.id)
    assert (voice.state, record.status) == ("completed", "completed")
    assert (record.voice_name, record.description, record.tags) == ("Ada", "d", ("one", "two"))


def test_a_voice_that_fails_says_why(call, publisher, ready):
    voice = call(make_voice, publisher, ready("voice.wav", b"no sound"), ADA)
    assert voice.state == "error"
    assert voice.error_message


def test_a_voice_that_takes_too_long(call, publisher, ready):
    with pytest.raises(WaitTimeout, match=r"training of the voice .* not ended after 0 s") as late:
        call(make_voice, publisher, ready("v.wav", WAV), ADA, timeout_s=0)
    assert late.value.last.state == "started"


def test_a_callback_is_heard_before_the_next_poll(
    call, sandbox, client, publisher, callbacks, journal, ready
):
    call(make_voice, publisher, ready("v.wav", WAV), ADA, journal=journal, callbacks=callbacks)
    log = httpx.get(f"{sandbox.url}/_sandbox/log", trust_env=False).json()
    polls = [each for each in log["requests"] if each["method"] == "GET"]
    assert len(polls) == 1


@pytest.mark.parametrize("kept", ["journal", "folder"])
def test_with_a_journal_nothing_is_created_twice(
    call, sandbox, publisher, journal, ready, tmp_path, kept
):
    given = journal if kept == "journal" else tmp_path / "made"
    first = call(make_voice, publisher, ready("v.wav", WAV), ADA, journal=given)
    again = call(make_voice, publisher, ready("v.wav", WAV), ADA, journal=given)
    assert (again.id, again.state) == (first.id, "completed")
    assert creates(sandbox) == {"voice": 1}
    call(make_voice, publisher, ready("v.wav", WAV + b"1"), ADA, journal=given)
    assert creates(sandbox) == {"voice": 2}


def test_a_folder_that_another_process_makes_in_is_named(call, publisher, ready, tmp_path):
    with (
        Journal.of(tmp_path, lock=True, create=True),
        pytest.raises(JournalError, match="Another run is using"),
    ):
        call(make_voice, publisher, ready("v.wav", WAV), ADA, journal=tmp_path)


def test_threads_make_in_one_folder_at_once(call, sandbox, publisher, ready, tmp_path):
    recordings = [ready(f"{number}.wav", WAV + bytes([number])) for number in range(4)]
    other = "import palprep, sys; palprep.Journal.of(sys.argv[1], lock=True)"
    all_there, go_on = threading.Barrier(5), threading.Event()

    class Patient:
        def publish(self, file, name=None):
            all_there.wait(60)
            go_on.wait(60)
            return publisher.publish(file, name)

    def make(recording):
        return call(make_voice, Patient(), recording, ADA, journal=tmp_path / "made")

    with ThreadPoolExecutor(4) as threads:
        under_way = [threads.submit(make, each) for each in recordings]
        all_there.wait(60)
        told = subprocess.run(
            [sys.executable, "-c", other, tmp_path / "made"],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        go_on.set()
        made = {each.result().id for each in under_way}
    assert "JournalBusy: Another run is using" in told.stderr
    assert creates(sandbox) == {"voice": 4}
    with Journal.of(tmp_path / "made", lock=True) as kept:
        assert {each.id for each in kept.creations()} == made


async def test_tasks_make_in_one_folder_at_once(sandbox, publisher, ready, tmp_path):
    made = []

    async def make(number):
        wav = ready(f"{number}.wav", WAV + bytes([number]))
        voice = await make_voice(client, publisher, wav, ADA, journal=str(tmp_path / "made"))
        made.append(voice.id)

    async with (
        AsyncClient(api_key=sandbox.user_key, base_url=sandbox.url) as client,
        anyio.create_task_group() as tasks,
    ):
        for number in (1, 2, 1, 2):
            tasks.start_soon(make, number)
    assert (len(made), len({*made})) == (4, 2)
    assert creates(sandbox) == {"voice": 2}


def test_a_lost_answer_is_raised_and_not_repeated(call, sandbox, publisher, journal, ready):
    fault(sandbox, on="request", endpoint="voices.create", drop="after_commit")
    for _ in range(2):
        with pytest.raises(OutcomeUnknown, match="`palprep status` to resolve voice-") as lost:
            call(make_voice, publisher, ready("v.wav", WAV), ADA, journal=journal)
        assert lost.value.call["voice_name"] == "Ada"
        assert "POST /v2/voices: the connection ended" in str(lost.value.reason)
    assert creates(sandbox) == {"voice": 1}
    [creation] = journal.creations()
    resolve_retry(journal, creation.key)
    call(make_voice, publisher, ready("v.wav", WAV), ADA, journal=journal)
    assert creates(sandbox) == {"voice": 2}


def test_a_lost_answer_names_the_folder_of_the_journal(call, sandbox, publisher, tmp_path, ready):
    fault(sandbox, on="request", endpoint="voices.create", drop="after_commit")
    out = tmp_path / "my out"
    with pytest.raises(OutcomeUnknown, match=rf"`palprep status '{out}'` to resolve voice-"):
        call(make_voice, publisher, ready("v.wav", WAV), ADA, journal=out)


def test_a_callback_resolves_a_lost_answer(call, sandbox, publisher, callbacks, journal, ready):
    fault(sandbox, on="request", endpoint="voices.create", drop="after_commit")
    voice = call(
        make_voice, publisher, ready("v.wav", WAV), ADA, journal=journal, callbacks=callbacks
    )
    assert voice.state == "completed"
    assert creates(sandbox) == {"voice": 1}


def test_a_replica_is_waited_for_by_its_callback(
    call, client, publisher, callbacks, journal, ready, alike
):
    alike(0.9)
    replica = call(
        make_replica, publisher, ReplicaRequest(replica_name="Ada"),
        video=ready("training.mp4", MP4, None), consent=ready("consent.mp4", MP4 + b"1", GIVEN),
        journal=journal, callbacks=callbacks, timeout_s=20,
    )  # fmt: skip
    assert (replica.state, replica.voice_id) == ("completed", None)
    assert client.unspecified.get_replica(replica.id).status == "completed"


def test_a_replica_from_an_image(call, publisher, callbacks, journal, ready):
    request = ReplicaRequest(replica_name="Ada", voice_name="gloria", auto_fix_training_image=True)
    replica = call(
        make_replica, publisher, request, image=ready("face.jpg", JPEG), journal=journal,
        callbacks=callbacks, timeout_s=20,
    )  # fmt: skip
    assert replica.state == "completed"


def test_without_callbacks_nothing_is_waited_for(call, publisher, ready):
    video, request = ready("t.mp4", MP4, GIVEN), ReplicaRequest(replica_name="Ada")
    replica = call(make_replica, publisher, request, video=video)
    assert (replica.state, replica.ended) == ("started", False)


def test_the_first_request_says_where_the_end_is_told(call, publisher, callbacks, journal, ready):
    video, kept = ready("t.mp4", MP4, GIVEN), {"journal": journal, "callbacks": callbacks}
    here = ReplicaRequest(replica_name="Ada")
    elsewhere = here.model_copy(update={"callback_url": "http://127.0.0.1:9/own"})
    made = call(make_replica, publisher, elsewhere, video=video, **kept)
    again = call(make_replica, publisher, here, video=video, **kept, timeout_s=1)
    assert (again.id, again.state) == (made.id, "started")


def test_callbacks_need_their_journal(call, publisher, callbacks, ready):
    with pytest.raises(UsageError, match="give the same journal"):
        call(make_voice, publisher, ready("v.wav", WAV), ADA, callbacks=callbacks)


@pytest.mark.parametrize("files", [(), ("video", "image"), ("consent",), ("consent", "image")])
def test_a_replica_has_one_source(call, publisher, ready, files):
    media = {name: ready(f"{name}.mp4", MP4) for name in files}
    request = ReplicaRequest(replica_name="Ada", voice_name="gloria")
    with pytest.raises(UsageError, match="Give a video"):
        call(make_replica, publisher, request, **media)


def test_a_path_is_told_to_be_prepared_first(call, publisher):
    request = ReplicaRequest(replica_name="Ada")
    with pytest.raises(UsageError, match=r"'ada.wav' is not prepared: give what palprep.prepare"):
        call(make_voice, publisher, "ada.wav", ADA)
    with pytest.raises(UsageError, match=r"'ada.mp4' is not prepared"):
        call(make_replica, publisher, request, video="ada.mp4")
    with pytest.raises(UsageError, match=r"'ada.jpg' is not prepared"):
        call(validate_face, "ada.jpg")
    with pytest.raises(UsageError, match=r"^What is of type bytes is not prepared: give"):
        call(validate_face, JPEG)


def test_what_was_prepared_as_something_else_reaches_no_service(call, sandbox, publisher, ready):
    def as_a(role):
        made = ready("file.bin", WAV)
        return made.model_copy(update={"report": made.report.model_copy(update={"role": role})})

    portrait, recording = as_a(Role.FACE_IMAGE), as_a(Role.VOICE_AUDIO)
    request = ReplicaRequest(replica_name="Ada", voice_name="gloria")
    with pytest.raises(UsageError, match="prepared as a face-image, not as a voice-audio"):
        call(make_voice, publisher, portrait, ADA)
    with pytest.raises(UsageError, match="prepared as a voice-audio, not as a face-image"):
        call(make_replica, publisher, request, image=recording)
    with pytest.raises(UsageError, match="prepared as a voice-audio, not as a training-video"):
        call(make_replica, publisher, request, video=recording, without_consent=True)
    with pytest.raises(UsageError, match="prepared as a voice-audio, not as a face-image"):
        call(validate_face, recording)
    assert creates(sandbox) == {}


def test_what_is_no_client_publisher_or_request_is_told_in_words(call, publisher, ready):
    wav = ready("v.wav", WAV)
    with pytest.raises(UsageError, match=r"Give a Client or an AsyncClient first, not str"):
        make_voice("sandbox-user-key", publisher, wav, ADA)
    with pytest.raises(UsageError, match=r"Give a Client or an AsyncClient first"):
        make_voice(client=None, publisher=publisher, prepared=wav, request=ADA)
    with pytest.raises(UsageError, match=r"Give a publisher, as palprep.publisher_from_env"):
        call(make_voice, None, wav, ADA)
    with pytest.raises(UsageError, match=r"Give a palprep.VoiceRequest, not str"):
        call(make_voice, publisher, wav, "Ada")
    with pytest.raises(UsageError, match=r"Give a palprep.ReplicaRequest, not VoiceRequest"):
        call(make_replica, publisher, ADA, image=ready("f.jpg", JPEG))


def test_a_call_has_a_server_and_a_journal_of_its_own(call, publisher, ready, tmp_path):
    request = ReplicaRequest(replica_name="Ada", voice_name="gloria")
    portrait, out = ready("f.jpg", JPEG), tmp_path / "out"
    made = call(make_replica, publisher, request, image=portrait, journal=out, callbacks=True)
    # Only a callback tells the end of a replica.
    assert made.state is CreationState.COMPLETED
    with Journal.of(out, lock=True) as kept:
        assert kept.creation(made.key) == made


def test_an_address_is_where_listen_takes_callbacks(call, sandbox, publisher, ready, tmp_path):
    with Journal.of(tmp_path, create=True) as journal, callback_server(journal) as elsewhere:
        address = elsewhere.url_for("x").split("/")[2]
        wav = ready("v.wav", WAV)
        call(make_voice, publisher, wav, ADA, journal=journal, callbacks=f"http://{address}")
        [told] = journal.entries(CalledBack)
        assert told.body.snapshot.status == "completed"


def test_an_image_needs_a_stock_voice(call, publisher, ready):
    request = ReplicaRequest(replica_name="Ada")
    with pytest.raises(UsageError, match="needs voice_name"):
        call(make_replica, publisher, request, image=ready("f.jpg", JPEG))


def test_steps_are_told_and_can_be_stopped(call, publisher, callbacks, journal, ready):
    told = []

    def voice(client, name, content, **hooks):
        files = {Role.VOICE_AUDIO: ready(name, content)}
        creator = Creator(
            client, publisher, journal, callbacks, ADA, files, "ada", client.base_url, **hooks
        )
        return create(client, creator)

    call(voice, "v.wav", WAV, tell=told.append)
    assert told == ["publish for voice", "create voice"]
    assert [creation.person for creation in journal.creations()] == ["ada"]

    def stop(step):
        raise PublishError("stopped")

    with pytest.raises(PublishError, match="stopped"):
        call(voice, "w.wav", WAV + b"1", tell=stop)
    assert len(journal.creations()) == 1


def test_what_a_publisher_gives_must_be_a_text(call, sandbox, ready):
    class Silent:
        def publish(self, file, name=None):
            return None

    with pytest.raises(UsageError, match="The URL of a file takes str, not NoneType: see publish"):
        call(make_voice, Silent(), ready("v.wav", WAV), ADA)
    assert sandbox.log()["creates"] == {}


async def test_an_upload_does_not_hold_up_other_tasks(sandbox, publisher, ready):
    """A publisher that waits for another task of the same event loop would wait for ever."""
    other_ran = threading.Event()

    class Patient:
        def publish(self, file, name=None):
            assert other_ran.wait(10)
            return publisher.publish(file, name)

    async def other():
        await anyio.sleep(0.05)
        other_ran.set()

    async with (
        AsyncClient(api_key=sandbox.user_key, base_url=sandbox.url) as client,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(other)
        voice = await make_voice(client, Patient(), ready("v.wav", WAV), ADA)
    assert voice.state is CreationState.COMPLETED


def test_signatures_say_what_comes_out():
    signature = inspect.signature(make_voice)
    assert signature.return_annotation is Creation
    assert list(signature.parameters)[:4] == ["client", "publisher", "prepared", "request"]
    assert make_voice.__doc__.startswith("Publish a recording")


def test_callbacks_that_fail_leave_no_doubt(call, sandbox, publisher, journal, ready):
    with callback_server(journal) as closed:
        pass
    wav = ready("v.wav", WAV)
    with pytest.raises(UsageError, match="callback server is closed"):
        call(make_voice, publisher, wav, ADA, journal=journal, callbacks=closed)
    assert journal.creations() == ()
    voice = call(make_voice, publisher, wav, ADA, journal=journal, callbacks=False)
    assert voice.state == "completed"


def test_what_is_being_asked_for_is_no_doubt(call, sandbox, publisher, journal, ready):
    """A second call that comes while the first one's request is under way gets the same voice."""
    wav, made = ready("v.wav", WAV), []

    def make():
        made.append(call(make_voice, publisher, wav, ADA, journal=journal).id)

    fault(sandbox, on="request", endpoint="voices.create", delay=0.5)
    first = threading.Thread(target=make)
    first.start()
    while not journal.in_doubt():
        assert first.is_alive()
    make()
    first.join()
    assert len(made) == 2
    assert len(set(made)) == 1
    assert creates(sandbox) == {"voice": 1}
