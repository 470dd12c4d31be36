"""palprep sandbox: which trainer it starts with."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
from pathlib import Path

import httpx
import pytest
from measured_once import FOLDER

from .conftest import SCRIPT, Palprep


@pytest.mark.parametrize(
    ("options", "in_force"), [((), "given"), (("--trainer", "bytes"), "bytes")]
)
def test_the_trainer_is_an_option(tmp_path: Path, options: tuple[str, ...], in_force: str) -> None:
    command = [SCRIPT, "sandbox", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        url = process.stdout.readline().split()[-1]
        choices = httpx.get(f"{url}/_sandbox/choices", trust_env=False).json()["choices"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    listed = {each["id"]: each for each in choices}
    assert listed["trainer"]["value"] == in_force


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "PALPREP_API_KEY=sandbox-user-key (sandbox-service-key is not user-scoped)\n"),
        (("--api-key", "my-own"), ""),
    ],
)
def test_it_prints_the_keys_that_everybody_may_know(
    tmp_path: Path, options: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALPREP_API_KEY", "of-the-real-service")
    command = [SCRIPT, "sandbox", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout.readline().startswith("palprep sandbox ready on http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert process.stdout.read() == said


def test_a_statement_without_a_place_for_the_name_is_one_clear_line(
    palprep: Palprep, tmp_path: Path
) -> None:
    (tmp_path / "own.txt").write_text("I, Jane Carter, agree.")
    ran = palprep("sandbox", "--statement", "own.txt")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "write {full_name} where it is said" in ran.err


def test_where_it_answers_is_said_as_json_too(tmp_path: Path) -> None:
    command = [SCRIPT, "sandbox", "--port", "0", "--print-json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        ready = json.loads(process.stdout.readline())
        headers = {"x-api-key": ready["user_key"]}
        reply = httpx.get(f"{ready['url']}/v2/tools", headers=headers, trust_env=False)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    assert reply.status_code == 200
    assert ready.keys() == {"url", "user_key", "service_key"}


def test_a_choice_is_an_option_and_a_key_of_ones_own_is_not_shown(tmp_path: Path) -> None:
    options = ["--choice", "voice-seconds=86400", "--choice", 'stock_voices=["iris"]']
    command = [SCRIPT, "sandbox", "--port", "0", "--print-json", "--api-key", "my-own", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        line = process.stdout.readline()
        url = json.loads(line)["url"]
        listed = httpx.get(f"{url}/_sandbox/choices", trust_env=False).json()["choices"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    assert "my-own" not in line
    values = {each["id"]: each["value"] for each in listed}
    assert (values["voice-seconds"], values["stock-voices"]) == (86400, ["iris"])


def test_a_worker_opens_what_it_judges(tmp_path: Path, sample_media: Path) -> None:
    command = [SCRIPT, "sandbox", "--port", "0", "--print-json", "--memory-limit", "1MiB"]
    image = (sample_media / "people/anna-miller/portrait.png").read_bytes()
    # What another test has measured would take no memory.
    alone = {name: value for name, value in os.environ.items() if name != FOLDER}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=alone
    ) as process:
        ready = json.loads(process.stdout.readline())
        answer = httpx.post(
            f"{ready['url']}/v2/faces/image-validation",
            json={"imageBase64": base64.b64encode(image).decode(), "mimeType": "image/png"},
            headers={"x-api-key": ready["user_key"]},
            timeout=60,
            trust_env=False,
        )
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    assert (answer.status_code, "more than 1 MiB of memory" in answer.text) == (422, True)
