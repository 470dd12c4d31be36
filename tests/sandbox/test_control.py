"""The sandbox in a test's hand: every route under /_sandbox as a method."""

from __future__ import annotations

import pydoc
import queue
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from raw import MP4, WAV, Raw

from palprep.errors import UsageError
from palprep.sandbox import Choices, Sandbox

EVENT = "application.voice_status_changed"


@pytest.fixture(autouse=True)
def _empty(sandbox):
    sandbox.reset()


def test_help_tells_each_method_and_its_arguments():
    told = pydoc.plain(pydoc.render_doc(Sandbox))
    assert "advance(self, seconds: 'float'" in told
    assert "Move the clock by ``seconds``" in told
    assert "One control." not in told


def test_a_forked_process_is_told_to_use_the_address():
    program = """if True:
        import os
        from palprep import Sandbox, UsageError
        with Sandbox() as sandbox:
            if (child := os.fork()) == 0:
                try:
                    sandbox.log()
                except UsageError as error:
                    print(str(error).removesuffix(sandbox.url + "/_sandbox"), flush=True)
                os._exit(0)
            os.waitpid(child, 0)
            print(sandbox.log()["creates"])
    """
    command = [sys.executable, "-c", program]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert said.splitlines() == [
        "The sandbox runs in the process that entered it: any other one asks it at ",
        "{}",
    ]


def test_seeds_and_assets(sandbox, raw, tmp_path):
    assert sandbox.seed({"pals": [{"pal_id": "p"}]}) == {"pals": 1}
    assert raw.send("DELETE", "/v2/pals/p").status_code == 204
    path = tmp_path / "a b.wav"
    path.write_bytes(WAV)
    for content in (WAV, path):
        url = sandbox.put_asset("a?b c.wav", content)
        assert raw.http.get(url).content == WAV
    sandbox.advance(24 * 3600)
    assert raw.http.get(url).status_code == 403
    with pytest.raises(UsageError, match="without a slash"):
        sandbox.put_asset("a/b.wav", WAV)
    with pytest.raises(UsageError, match="planets"):
        sandbox.seed({"planets": []})


def test_a_seed_of_python_is_one_that_json_can_say(sandbox, raw):
    assert sandbox.seed({"pals": ({"pal_id": "p", "tool_ids": ("t",)},)}) == {"pals": 1}
    for strange in (float("nan"), datetime.now(UTC), {1}):
        with pytest.raises(UsageError, match="A seed must be JSON"):
            sandbox.seed({"pals": [{"pal_id": "q", "strange": strange}]})


def test_faults_and_the_log(sandbox, raw):
    sandbox.load_faults([{"on": "request", "endpoint": "tools.list", "status": 503}])
    assert [fault["left"] for fault in sandbox.faults()] == [1]
    assert raw.send("GET", "/v2/tools").status_code == 503
    assert sandbox.faults() == []
    (line,) = sandbox.log()["requests"]
    assert (line["endpoint"], line["status"]) == ("tools.list", 503)
    with pytest.raises(UsageError, match=r"voices\.create"):
        sandbox.load_faults([{"on": "request", "endpoint": "voices.crate"}])
    assert {choice["id"] for choice in sandbox.choices()} >= {"in-call-tools", "tool-size"}


@pytest.mark.parametrize("why", [None, "The recording is silent."])
def test_a_training_is_ended_by_hand_and_announced(sandbox, raw, receiver, why):
    voice = raw.voice(callback_url=receiver.url, training_audio_url="http://127.0.0.1:1/a.wav")
    ended = sandbox.end_training(voice["voice_id"], error_message=why)
    assert (ended["status"], ended.get("error_message")) == ("error" if why else "completed", why)
    (told,) = receiver.requests
    assert told.json["status"] == ended["status"]
    sandbox.advance(100)
    assert raw.ok("GET", f"/v2/voices/{voice['voice_id']}")["status"] == ended["status"]
    assert len(receiver.requests) == 1
    for again in (voice["voice_id"], "v-unknown"):
        with pytest.raises(UsageError, match="in training"):
            sandbox.end_training(again)


def test_a_replica_is_ended_by_hand_over_http_too(raw):
    body = {"train_video_url": "http://127.0.0.1:1/a.mp4"}
    replica = raw.ok("POST", "/v2/replicas", body)["replica_id"]
    path = f"/_sandbox/trainings/{replica}/end"
    assert raw.send("POST", path, {"error_message": 7}).status_code == 400
    assert raw.ok("POST", path, {"error_message": "dark"})["status"] == "error"
    assert raw.ok("GET", f"/v2/replicas/{replica}")["error_message"] == "dark"
    assert raw.send("POST", path).status_code == 404


def test_an_in_call_tool_for_the_frontend_is_an_event(sandbox, raw):
    tool = raw.tool()
    sandbox.seed({"pals": [{"pal_id": "p", "tool_ids": [tool["tool_id"]]}]})
    conversation = raw.ok("POST", "/v2/conversations", {"pal_id": "p"})["conversation_id"]
    called = sandbox.call_tool(conversation, tool["name"], {"order": 7})
    payload = {"conversation_id": conversation, "name": tool["name"], "arguments": {"order": 7}}
    assert called == {"event": "conversation.tool_call", "payload": payload}
    (logged,) = sandbox.log()["callbacks"]
    assert (logged["event"], logged["payload"]) == ("conversation.tool_call", payload)
    for name in ("unknown", "end_call"):
        with pytest.raises(UsageError, match=f"no in-call tool {name}"):
            sandbox.call_tool(conversation, name)
    sandbox.end_conversation(conversation)
    with pytest.raises(UsageError, match="no active conversation"):
        sandbox.call_tool(conversation, tool["name"])
    path = f"/_sandbox/conversations/{conversation}/call_tool"
    assert raw.send("POST", path, {"name": tool["name"]}).status_code == 404


def test_an_in_call_tool_with_a_server_is_asked_for_its_answer(receiver):
    choices = Choices(loopback_webhooks=True)
    with Sandbox(clock="virtual", choices=choices) as sandbox, Raw(sandbox) as raw:
        api = {"url": receiver.url + "/orders/{order}"}
        tool = raw.tool(delivery={"app_message": False, "api": api})
        sandbox.seed({"pals": [{"pal_id": "p"}]})
        conversation = raw.ok("POST", "/v2/conversations", {"pal_id": "p"})["conversation_id"]
        receiver.answers.append((201, b"shipped"))
        called = sandbox.call_tool(conversation, tool["name"], {"order": 7})
        assert called == {"status": 201, "body": "shipped", "problem": None}
        (request,) = receiver.requests
        assert (request.path, request.json) == ("/orders/7", {"order": 7})


def test_a_tool_that_answers_after_a_reset_is_not_in_the_log():
    choices, asked = Choices(loopback_webhooks=True), threading.Event()
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        Sandbox(choices=choices, seed={"pals": [{"pal_id": "p"}]}) as sandbox,
        Raw(sandbox) as raw,
    ):
        api = {"url": f"http://127.0.0.1:{server.getsockname()[1]}/"}
        tool = raw.tool(delivery={"app_message": False, "api": api})
        conversation = raw.ok("POST", "/v2/conversations", {"pal_id": "p"})["conversation_id"]

        def answer():
            connection, _ = server.accept()
            with connection:
                asked.set()
                forgotten.wait(30)

        forgotten = threading.Event()
        threading.Thread(target=answer, daemon=True).start()
        with ThreadPoolExecutor(1) as pool:
            called = pool.submit(sandbox.call_tool, conversation, tool["name"])
            assert asked.wait(30)
            sandbox.reset()
            forgotten.set()
            assert called.result()["problem"]
        assert sandbox.log()["callbacks"] == []


def test_reset_brings_back_what_it_was_started_with(tmp_path):
    fault = {"on": "request", "endpoint": "tools.list", "status": 503}
    seed = {"pals": [{"pal_id": "first"}]}
    started = Sandbox(tmp_path, clock="virtual", faults=[fault], seed=seed)
    with started as sandbox, Raw(sandbox) as raw:
        url = sandbox.put_asset("a.wav", WAV)
        before = sandbox.now()
        for _ in range(2):
            raw.voice(callback_url="http://127.0.0.1:1/")
            assert raw.send("GET", "/v2/tools").status_code == 503
            assert raw.send("DELETE", "/v2/pals/first").status_code == 204
            sandbox.reset()
            assert sandbox.log() == {"requests": [], "callbacks": [], "creates": {}}
            assert raw.ok("GET", "/v2/voices") == {"data": []}
        assert raw.http.get(url).status_code == 404
        assert sandbox.now() == before
        sandbox.advance(1000)
        assert sandbox.log()["callbacks"] == []
    assert not list((tmp_path / "assets").iterdir())


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda s: s.advance(timedelta(minutes=5)), "seconds takes float, not timedelta"),
        (lambda s: s.advance(seconds="60"), "seconds takes float, not str"),
        (lambda s: s.put_asset("ada.wav", "ada.wav"), "content takes bytes or Path or .*not str"),
        (lambda s: s.end_training("v1", error_message=7), "error_message takes str or None"),
        (lambda s: s.load_faults([{"endpoint": "voices.get"}]), "is request, callback or asset"),
    ],
)
def test_what_a_method_cannot_take_is_told(sandbox, act, said):
    with pytest.raises(UsageError, match=said):
        act(sandbox)


def test_the_clock_takes_the_numbers_of_numpy(sandbox):
    began = sandbox.now()
    assert sandbox.advance(np.float32(0.25)) == {"clock": "virtual", "now": began + 0.25}


def test_a_sandbox_that_does_not_run_says_so():
    sandbox = Sandbox()
    for act in (sandbox.now, sandbox.log, sandbox.reset):
        with pytest.raises(UsageError, match="not running"):
            act()


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_training_that_was_ended_or_forgotten_meanwhile_does_not_end_again(by_hand):
    begun = queue.SimpleQueue()

    def trainer(kind, paths):
        begun.put(kind)
        time.sleep(0.6 if kind == "voice" else 0)

    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        Sandbox(trainer=trainer, choices=Choices(voice_seconds=0, replica_seconds=0)) as sandbox,
        Raw(sandbox) as raw,
    ):
        if not by_hand:  # A reset goes on without a training while a callback has no answer.
            address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
            sent = {"train_video_url": raw.publish("a.mp4", MP4), "callback_url": address}
            raw.ok("POST", "/v2/replicas", sent)
            begun.get(timeout=30)
        voice_id = raw.voice()["voice_id"]
        begun.get(timeout=30)
        if by_hand:
            sandbox.end_training(voice_id, error_message="Too dark.")
        else:
            sandbox.reset()
        time.sleep(0.8)
        kept = raw.ok("GET", "/v2/voices")["data"]
    assert [voice["error_message"] for voice in kept] == ["Too dark."] * by_hand


def test_a_voice_that_is_seeded_over_one_in_training_stays_as_it_was_seeded(caplog, sandbox, raw):
    voice_id = raw.voice()["voice_id"]
    raw.seed(voices=[{"voice_id": voice_id, "status": "started"}])
    sandbox.advance(10)
    assert raw.ok("GET", f"/v2/voices/{voice_id}")["status"] == "started"
    assert caplog.records == []
