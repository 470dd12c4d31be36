"""The sandbox in a test's hand: every route under /_sandbox as a method."""

from __future__ import annotations

import pydoc

import pytest
from raw import WAV, Raw

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


def test_seeds_and_assets(sandbox, raw, tmp_path):
    assert sandbox.seed({"pals": [{"pal_id": "p"}]}) == {"pals": 1}
    assert raw.send("DELETE", "/v2/pals/p").status_code == 204
    path = tmp_path / "a b.wav"
    path.write_bytes(WAV)
    for content in (WAV, path):
        url = sandbox.put_asset("a?b c.wav", content, lifetime_s=60)
        assert raw.http.get(url).content == WAV
    sandbox.advance(60)
    assert raw.http.get(url).status_code == 403
    with pytest.raises(UsageError, match="without a slash"):
        sandbox.put_asset("a/b.wav", WAV)
    with pytest.raises(UsageError, match="planets"):
        sandbox.seed({"planets": []})


def test_faults_and_the_log(sandbox, raw):
    sandbox.load_faults([{"on": "request", "endpoint": "tools.list", "status": 503}])
    assert [fault["left"] for fault in sandbox.faults()] == [1]
    assert raw.send("GET", "/v2/tools").status_code == 503
    assert sandbox.faults() == []
    (line,) = sandbox.log()["requests"]
    assert (line["endpoint"], line["status"]) == ("tools.list", 503)
    with pytest.raises(UsageError, match=r"voices\.create"):
        sandbox.load_faults([{"on": "request", "endpoint": "voices.crate"}])
    assert {choice["id"] for choice in sandbox.choices()} >= {"in-call-tools", "seeds"}


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


def test_a_callback_is_sent_again_by_its_number_even_a_lost_one(sandbox, raw, receiver):
    sandbox.load_faults([{"on": "callback", "event": EVENT, "copies": 0}])
    voice = raw.voice(callback_url=receiver.url)
    sandbox.advance(10)
    assert receiver.requests == []
    (lost,) = sandbox.log()["callbacks"]
    assert (lost["event"], lost["status"], lost["attempt"]) == (EVENT, None, 0)
    sandbox.resend(lost["seq"])
    assert [request.json["voice_id"] for request in receiver.requests] == [voice["voice_id"]]
    assert raw.send("POST", f"/_sandbox/callbacks/{lost['seq']}/resend").status_code == 204
    assert len(receiver.requests) == 2
    with pytest.raises(UsageError, match="999"):
        sandbox.resend(999)
    for number in (2**63, 10**30):
        assert raw.send("POST", f"/_sandbox/callbacks/{number}/resend").status_code == 404


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


def test_a_sandbox_that_does_not_run_says_so():
    sandbox = Sandbox()
    for act in (sandbox.now, sandbox.log, sandbox.reset):
        with pytest.raises(UsageError, match="not running"):
            act()


def test_what_was_recorded_is_made_again_with_the_same_ids(sandbox, raw, tmp_path):
    sandbox.record()
    voice = raw.voice(tags=["a"], training_audio_url="http://127.0.0.1:1/a.wav")["voice_id"]
    sandbox.advance(1.5)
    raw.ok("PATCH", f"/v2/voices/{voice}", {"voice_name": "Grace"})
    tool = raw.tool(name="kept")
    sandbox.advance(100)
    raw.send("GET", "/v2/voices?tag=a%20b")
    sandbox.load_faults([{"on": "request", "endpoint": "tools.create", "status": 503}])
    assert raw.send("POST", "/v2/tools", raw.tool_body(name="never")).status_code == 503
    before = [raw.ok("GET", path) for path in ("/v2/voices", "/v2/tools")]
    recording = sandbox.recording()
    assert [kept.target for kept in recording.requests[:4]] == [
        "/v2/voices", f"/v2/voices/{voice}", "/v2/tools", "/v2/voices?tag=a%20b"
    ]  # fmt: skip
    (tmp_path / "recording.json").write_text(recording.model_dump_json())
    with Sandbox(clock="virtual") as other, Raw(other) as again:
        other.load_faults([{"on": "request", "endpoint": "voices.create", "status": 500}])
        started = other.now()
        other.replay(tmp_path / "recording.json")
        assert other.now() - started == pytest.approx(101.5)
        assert [fault["left"] for fault in other.faults()] == [1]
        after = [again.ok("GET", path) for path in ("/v2/voices", "/v2/tools")]
        assert again.ok("GET", f"/v2/tools/{tool['tool_id']}")["name"] == "kept"
        assert again.tool()["tool_id"] != tool["tool_id"]

    def timeless(listed):
        return [
            {k: v for k, v in record.items() if not k.endswith("_at")} for record in listed["data"]
        ]

    assert list(map(timeless, after)) == list(map(timeless, before))
    assert after[0]["data"][0]["status"] == "error"


def test_a_recording_travels_over_http(sandbox, raw):
    assert raw.send("POST", "/_sandbox/recording").status_code == 204
    tool = raw.tool()["tool_id"]
    recording = raw.ok("GET", "/_sandbox/recording")
    sandbox.reset()
    assert raw.send("GET", f"/v2/tools/{tool}").status_code == 404
    assert raw.send("POST", "/_sandbox/replay", recording).status_code == 204
    assert raw.ok("GET", f"/v2/tools/{tool}")["tool_id"] == tool


@pytest.mark.parametrize("content", ["{", '{"requests": [{"method": "GET"}]}', "[]"])
def test_what_is_no_recording_is_said(sandbox, tmp_path, content):
    path = tmp_path / "recording.json"
    path.write_text(content)
    with pytest.raises(UsageError, match="recording"):
        sandbox.replay(path)
