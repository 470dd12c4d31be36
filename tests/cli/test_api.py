"""``palprep api``: every endpoint from the shell, against the sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from raw import JPEG

from palprep.api.calls import ENDPOINTS
from palprep.cli.api_commands import build
from palprep.cli.app import API, run
from palprep.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(clock="virtual") as running:
        yield running


@pytest.fixture
def palprep(sandbox: Sandbox, monkeypatch, capsys):
    """Runs a command line; its exit code, its JSON and its errors."""
    monkeypatch.setenv("PALPREP_API_KEY", sandbox.user_key)
    monkeypatch.setenv("PALPREP_BASE_URL", sandbox.url)

    def command(*arguments: str):
        code = run(["api", *arguments])
        out, err = capsys.readouterr()
        return code, json.loads(out) if out else None, err

    return command


def test_every_endpoint_has_a_command() -> None:
    groups = build(API).registered_groups
    assert len(groups) == 12
    commands = [c for g in groups for c in g.typer_instance.registered_commands]
    assert len(commands) == len(ENDPOINTS)


def test_a_voice_is_made_read_and_changed(palprep, sandbox) -> None:
    code, made, _ = palprep(
        *("voices", "create", "--voice-name", "Ada", "--tags", "a", "--tags", "b"),
        *("--training-audio-url", f"{sandbox.url}/assets/x/a.wav", "--description", "d"),
    )
    assert (code, made["status"], made["tags"]) == (0, "started", ["a", "b"])
    code, changed, _ = palprep("voices", "update", made["voice_id"], "--null", "description")
    assert (code, changed["description"]) == (0, None)
    code, shown, _ = palprep("voices", "get", made["voice_id"], "--include")
    assert (code, shown["status"], shown["body"]) == (0, 200, changed)


def test_json_options_take_text_or_a_file(palprep, tmp_path) -> None:
    parameters = tmp_path / "parameters.json"
    parameters.write_text('{"type": "object", "properties": {}}')
    code, made, _ = palprep(
        *("tools", "create", "--name", "from_shell", "--description", "d"),
        *("--parameters", f"@{parameters}", "--delivery", '{"app_message": true}'),
    )
    assert (code, made["parameters"]["type"]) == (0, "object")
    code, listed, _ = palprep("unspecified", "list-tools")
    assert (code, made in listed["data"]) == (0, True)


def test_an_image_is_given_as_a_file(palprep, tmp_path) -> None:
    image = tmp_path / "face.jpg"
    image.write_bytes(JPEG)
    for resource in ("faces", "replicas"):
        code, verdict, _ = palprep(resource, "validate-image", str(image), "--model", "core-4.5")
        assert (code, verdict["passed"]) == (0, True)
    image.write_bytes(b"plain text")
    code, _, err = palprep("faces", "validate-image", str(image))
    assert code == 2
    assert "give mime_type" in err
    code, _, err = palprep("faces", "validate-image", str(image), "--mime-type", "image/png")
    assert code == 3
    assert "undecodable_image" in err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["voices", "create", "--voice-name", ""], 2, "voice_name"),
        (["voices", "update", "v", "--null", "tags"], 2, "tags must be an array"),
        (["voices", "get", "no-such-voice"], 3, "404"),
        (["tools", "create", "--name", "x"], 2, "description"),
        (["tools", "create", "--parameters", "{"], 2, "--parameters: not JSON"),
        (["tools", "create", "--parameters", "@/no/such"], 2, "cannot be read"),
        (["voices", "create", "--voice-name", "", "--raw"], 3, "voice_name"),
        (["faces", "validate-image", "/no/such.jpg"], 1, "does not exist"),
        (["voices", "get", "v", "--base-url", "http://127.0.0.1:9"], 3, "could not be reached"),
        (["conversations", "create", "--other", '"ab"'], 2, "other must be an object"),
        (["conversations", "create", "--other", "[1]", "--raw"], 2, "other must be an object"),
        (["nothing"], 2, "nothing"),
    ],
)
def test_what_goes_wrong_is_one_line_and_an_exit_code(palprep, arguments, code, said) -> None:
    found, out, err = palprep(*arguments)
    assert (found, out) == (code, None)
    assert said in err


def test_without_a_service_it_says_what_to_set(palprep, monkeypatch) -> None:
    monkeypatch.delenv("PALPREP_BASE_URL")
    code, _, err = palprep("voices", "get", "v")
    assert code == 2
    assert "PALPREP_BASE_URL is not set" in err
