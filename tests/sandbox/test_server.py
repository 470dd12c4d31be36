"""The server as a server: where it listens, what it keeps, how it ends."""

from __future__ import annotations

import base64
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from raw import JPEG, WAV, Raw

from palprep.errors import UsageError
from palprep.sandbox import ApiKey, Choices, Sandbox, log
from palprep.sandbox.clock import Scheduler
from palprep.sandbox.faults import FaultScript
from palprep.workers import WorkStopped


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.com", ""])  # noqa: S104
def test_only_loopback_is_listened_on(host):
    with pytest.raises(UsageError, match="loopback"), Sandbox(host=host):
        pass


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_every_loopback_address_will_do(host):
    with Sandbox(host=host) as sandbox:
        reply = httpx.get(f"{sandbox.url}/openapi.json", trust_env=False)
    assert reply.json()["openapi"] == "3.1.0"


def test_a_sandbox_that_runs_is_not_started_again():
    with Sandbox() as sandbox:
        with pytest.raises(UsageError, match="running already"):
            sandbox.__enter__()
        assert sandbox.now()


@pytest.mark.parametrize(
    "wrong",
    [
        {"port": "x"},
        {"host": 5},
        {"start": "now"},
        {"choices": {}},
        {"data": 5},
        {"api_keys": 5},
        {"api_keys": "KEY"},
        {"api_keys": [5]},
    ],
    ids=str,
)
def test_an_argument_of_another_type_is_told(wrong):
    with pytest.raises(UsageError, match=f"{next(iter(wrong))} takes"):
        Sandbox(**wrong)


@pytest.mark.parametrize("key", ["", "a\nb", "ä"])
def test_a_key_that_no_request_carries_is_none(key):
    with pytest.raises(UsageError, match="key"):
        Sandbox(api_keys=[key])


def test_a_port_in_use_is_said():
    with Sandbox() as first, pytest.raises(UsageError, match="another port"):
        Sandbox(port=int(first.url.rpartition(":")[2])).__enter__()


def test_a_data_folder_in_use_is_said(tmp_path):
    with Sandbox(tmp_path), pytest.raises(UsageError, match="another sandbox"):
        Sandbox(tmp_path).__enter__()
    with Sandbox(tmp_path) as again:
        assert again.url


@pytest.mark.parametrize("name", ["assets", "scratch"])
def test_a_folder_with_files_of_something_else_is_no_data_folder(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="something else"), Sandbox(tmp_path):
        pass
    assert [each.name for each in tmp_path.rglob("*")] == [name, "mine.txt"]


def test_a_data_folder_that_cannot_be_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be made"), Sandbox(tmp_path / "file"):
        pass


def test_the_announced_address_tells_where_to_look():
    with Sandbox() as sandbox, Raw(sandbox) as raw:
        index = raw.ok("GET", "/")
        assert index == raw.ok("GET", "/openapi.json")
        assert "GET /_sandbox/choices" in index["info"]["description"]


@pytest.mark.parametrize("path", ["/openapi.json/", "/_sandbox/log/", "/v2/tools/"])
def test_a_slash_at_the_end_makes_another_path(path):
    with Sandbox() as sandbox, Raw(sandbox) as raw:
        reply = raw.send("GET", path)
    assert (reply.status_code, reply.json()) == (404, {"error": "Not Found."})


def test_a_clock_that_stops_is_said_at_once(caplog, monkeypatch):
    def broken(*_):
        raise OSError("disk gone")

    monkeypatch.setattr(Scheduler, "_next", broken)
    with Sandbox() as sandbox, Raw(sandbox) as raw:
        raw.ok("GET", "/")
    assert "The sandbox's clock has stopped" in caplog.text
    assert "disk gone" in caplog.text


def test_its_own_keys_replace_the_well_known_ones():
    keys = ["mine", ApiKey("theirs", user_scoped=False)]
    with Sandbox(api_keys=keys) as sandbox:
        assert (sandbox.user_key, sandbox.service_key) == ("mine", "theirs")
        url = f"{sandbox.url}/v2/tools"
        statuses = [
            httpx.get(url, headers={"x-api-key": key}, trust_env=False).status_code
            for key in ("mine", "theirs", "sandbox-user-key")
        ]
    assert statuses == [200, 200, 401]
    with Sandbox(api_keys=["mine"]) as sandbox, pytest.raises(UsageError, match="no API key"):
        _ = sandbox.service_key


def test_choices_are_values_that_can_be_others():
    with Sandbox(choices=Choices(invalid_key_status=403)) as sandbox:
        assert httpx.get(f"{sandbox.url}/v2/tools", trust_env=False).status_code == 403


def test_two_sandboxes_in_one_process_share_nothing():
    with (
        Sandbox(clock="virtual") as one,
        Sandbox(clock="virtual") as other,
        Raw(one) as first,
        Raw(other) as second,
    ):
        tool = first.tool()
        assert second.send("GET", f"/v2/tools/{tool['tool_id']}").status_code == 404
        one.advance(1000)
        assert (
            first.ok("GET", "/_sandbox/clock")["now"] > second.ok("GET", "/_sandbox/clock")["now"]
        )


def test_everything_survives_a_restart_and_the_clock_does_not_go_back(tmp_path):
    with Sandbox(tmp_path, clock="virtual") as sandbox, Raw(sandbox) as raw:
        voice = raw.voice(voice_name="kept")
        sandbox.advance(1)
        now = raw.ok("GET", "/_sandbox/clock")["now"]
    with Sandbox(tmp_path, clock="virtual") as sandbox, Raw(sandbox) as raw:
        assert raw.ok("GET", "/_sandbox/clock")["now"] >= now
        assert raw.ok("GET", f"/v2/voices/{voice['voice_id']}") == voice
        assert raw.ok("GET", "/_sandbox/log")["creates"] == {"voice": 1}


def test_a_real_clock_that_was_set_ahead_does_not_go_back_either(tmp_path):
    with Sandbox(tmp_path) as sandbox, Raw(sandbox) as raw:
        sandbox.advance(1000)
        time.sleep(1)
        before = raw.tool()["created_at"]
    with Sandbox(tmp_path) as sandbox, Raw(sandbox) as raw:
        assert raw.tool()["created_at"] > before


def test_what_was_answered_survives_kill_9_and_training_goes_on(tmp_path):
    program = (
        "import sys; from palprep.sandbox import Sandbox\n"
        "from palprep.serving import until_signalled\n"
        "sandbox = Sandbox(sys.argv[1], port=int(sys.argv[2]), clock='virtual')\n"
        "with sandbox, until_signalled() as stop: print(sandbox.url, flush=True); stop.wait()"
    )

    def start(port):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path), str(port)],
            stdout=subprocess.PIPE,
            text=True,
        )
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        return process, url

    process, url = start(0)
    port = int(url.rpartition(":")[2])
    with process.stdout, httpx.Client(base_url=url, trust_env=False) as http:
        http.headers["x-api-key"] = "sandbox-user-key"
        asset = http.put("/_sandbox/assets/a.wav", content=WAV).json()["url"]
        body = {"voice_name": "kept", "training_audio_url": asset}
        voice = http.post("/v2/voices", json=body).json()
        process.kill()
        process.wait()
    process, _ = start(port)
    with process.stdout, httpx.Client(base_url=url, trust_env=False) as http:
        http.headers["x-api-key"] = "sandbox-user-key"
        assert http.get(f"/v2/voices/{voice['voice_id']}").json() == voice
        http.post("/_sandbox/clock", json={"advance": 5})
        assert http.get(f"/v2/voices/{voice['voice_id']}").json()["status"] == "completed"
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_an_image_under_way_is_not_called_unusable_when_its_judge_is_ended():
    judged, ended = threading.Event(), threading.Event()
    answers = []

    def judge(path, model):
        judged.set()
        assert ended.wait(30)
        raise WorkStopped

    sandbox = Sandbox(judge_image=judge)

    def ask():
        body = {"imageBase64": base64.b64encode(JPEG).decode()}
        with Raw(sandbox) as raw:
            answers.append(raw.send("POST", "/v2/faces/image-validation", body))

    asking = threading.Thread(target=ask)
    with sandbox:
        asking.start()
        assert judged.wait(30)
        started = time.monotonic()
        ended.set()
    assert time.monotonic() - started < 10
    asking.join(30)
    [answer] = answers
    assert (answer.status_code, "ask again" in answer.json()["error"]) == (503, True)


def test_a_seed_given_at_the_start_is_there():
    with (
        Sandbox(seed={"videos": [{"video_id": "d1", "video_name": "old"}]}) as sandbox,
        Raw(sandbox) as raw,
    ):
        assert raw.ok("PATCH", "/v2/videos/d1/name", {"video_name": "new"})["video_name"] == "new"


def test_a_seed_given_at_the_start_changes_nothing_that_is_kept(tmp_path):
    first, second = ({"video_id": each, "video_name": "old"} for each in ("d1", "d2"))
    with Sandbox(tmp_path, seed={"videos": [first]}) as sandbox, Raw(sandbox) as raw:
        raw.ok("PATCH", "/v2/videos/d1/name", {"video_name": "new"})
    with Sandbox(tmp_path, seed={"videos": [first, second]}) as sandbox:
        store = sandbox._live.service.store
        assert store.get("video", "d1")["video_name"] == "new"
        assert store.get("video", "d2") == second
        sandbox.seed({"videos": [first]})
        assert store.get("video", "d1") == first


@pytest.mark.parametrize("kind", [Path, str, list, FaultScript.model_validate])
def test_faults_given_at_the_start_are_in_force(tmp_path, kind):
    script = [{"on": "request", "endpoint": "tools.list", "status": 503}]
    path = tmp_path / "faults.json"
    path.write_text(json.dumps(script))
    with (
        Sandbox(faults=kind(path) if kind in {Path, str} else kind(script)) as sandbox,
        Raw(sandbox) as raw,
    ):
        assert [raw.send("GET", "/v2/tools").status_code for _ in range(2)] == [503, 200]


def test_a_clock_that_there_is_not_is_told():
    with pytest.raises(UsageError, match="no clock 'fast': give real or virtual"):
        Sandbox(clock="fast")


def test_a_proxy_of_the_environment_is_nothing_to_a_sandbox_that_asks_no_other(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "what://x")
    with Sandbox() as sandbox:
        assert sandbox.log()["requests"] == []


def test_a_training_that_was_broken_off_is_done_after_the_next_start(tmp_path):
    begun = threading.Event()

    def ended(kind, paths):
        begun.set()
        raise WorkStopped

    choices = Choices(voice_seconds=0)
    with Sandbox(data=tmp_path, trainer=ended, choices=choices) as sandbox:
        port, key = int(sandbox.url.rpartition(":")[2]), {"x-api-key": sandbox.user_key}
        sent = {"voice_name": "Ada", "training_audio_url": sandbox.put_asset("a.wav", WAV)}
        with httpx.Client(base_url=sandbox.url, headers=key, trust_env=False) as http:
            made = http.post("/v2/voices", json=sent).json()
            assert begun.wait(30)
            time.sleep(0.3)
            address = f"/v2/voices/{made['voice_id']}"
            assert http.get(address).json()["status"] == "started"
    with Sandbox(data=tmp_path, trainer=lambda *_: None, choices=choices, port=port) as sandbox:
        deadline = time.monotonic() + 30
        with httpx.Client(base_url=sandbox.url, headers=key, trust_env=False) as http:
            while http.get(address).json()["status"] == "started":
                assert time.monotonic() < deadline
                time.sleep(0.1)
            assert http.get(address).json()["status"] == "completed"


def test_a_training_whose_worker_was_ended_alone_goes_on(monkeypatch):
    monkeypatch.setattr("palprep.sandbox.handlers.likenesses._AGAIN_S", 0.01)
    answers = iter([WorkStopped(), WorkStopped(), None])

    def trainer(kind, paths):
        if (answer := next(answers)) is not None:
            raise answer

    with Sandbox(clock="virtual", trainer=trainer) as sandbox, Raw(sandbox) as raw:
        made = raw.voice()
        sandbox.advance(3600)
        assert raw.ok("GET", f"/v2/voices/{made['voice_id']}")["status"] == "completed"


def test_the_log_keeps_the_last_requests_and_callbacks_while_it_runs(monkeypatch):
    monkeypatch.setattr(log, "KEPT", 2)
    monkeypatch.setattr(log, "TRIMMED_EVERY", 4)
    with Sandbox(clock="virtual") as sandbox, Raw(sandbox) as raw:
        for _ in range(3):
            raw.voice(callback_url="http://127.0.0.1:1/")
        sandbox.advance(2)
        raw.ok("GET", "/v2/tools")
        kept = sandbox.log()
    assert [each["seq"] for each in kept["requests"]] == [3, 7]
    assert [each["seq"] for each in kept["callbacks"]] == [4, 5, 6]
