"""palprep sandbox: what it starts with, and what it says of it."""

from __future__ import annotations

import base64
import json
import os
import signal
from pathlib import Path

import httpx
import pytest
from measured_once import FOLDER

from .conftest import Palprep, started


@pytest.mark.parametrize(
    ("options", "trainer", "said"),
    [
        ((), "given", "PALPREP_API_KEY=sandbox-user-key (sandbox-service-key is not user-scoped)"),
        (("--choice", "trainer=bytes", "--api-key", "my-own"), "bytes", ""),
    ],
)
def test_its_trainer_is_a_choice_and_it_prints_the_keys_that_everybody_may_know(
    tmp_path: Path, options: tuple[str, ...], trainer: str, said: str, monkeypatch
) -> None:
    monkeypatch.setenv("PALPREP_API_KEY", "of-the-real-service")
    with started("sandbox", "--port", "0", *options, cwd=tmp_path) as process:
        ready = process.stdout.readline()
        assert ready.startswith("palprep sandbox ready on http://127.0.0.1:")
        assert chosen(ready.split()[-1])["trainer"] == trainer
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert process.stdout.read().rstrip("\n") == said


def chosen(url: str) -> dict[str, object]:
    """The values of its choices, by id."""
    choices = httpx.get(f"{url}/_sandbox/choices", trust_env=False, timeout=60).json()["choices"]
    return {each["id"]: each["value"] for each in choices}


def test_a_statement_without_a_place_for_the_name_is_one_clear_line(
    palprep: Palprep, tmp_path: Path
) -> None:
    (tmp_path / "own.txt").write_text("I, Jane Carter, agree.")
    ran = palprep("sandbox", "--statement", "own.txt")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "write {full_name} where it is said" in ran.err


def test_where_it_answers_is_said_as_json_too(tmp_path: Path) -> None:
    with started("sandbox", "--port", "0", "--print-json", cwd=tmp_path) as process:
        ready = json.loads(process.stdout.readline())
        headers = {"x-api-key": ready["user_key"]}
        tools = f"{ready['url']}/v2/tools"
        reply = httpx.get(tools, headers=headers, trust_env=False, timeout=60)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    assert reply.status_code == 200
    assert ready.keys() == {"url", "user_key", "service_key"}


def test_a_choice_is_an_option_and_a_key_of_ones_own_is_not_shown(tmp_path: Path) -> None:
    options = ["--choice", "voice-seconds=86400", "--choice", 'stock_voices=["iris"]']
    asked = ("sandbox", "--port", "0", "--print-json", "--api-key", "my-own", *options)
    with started(*asked, cwd=tmp_path) as process:
        line = process.stdout.readline()
        values = chosen(json.loads(line)["url"])
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    assert "my-own" not in line
    assert (values["voice-seconds"], values["stock-voices"]) == (86400, ["iris"])


def test_a_worker_opens_what_it_judges(tmp_path: Path, sample_media: Path) -> None:
    asked = ("sandbox", "--port", "0", "--print-json", "--memory-limit", "1MiB")
    image = (sample_media / "people/anna-miller/portrait.png").read_bytes()
    # What another test has measured would take no memory.
    alone = {name: value for name, value in os.environ.items() if name != FOLDER}
    with started(*asked, cwd=tmp_path, env=alone) as process:
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
