"""The main job on the sample people as they are, as a shell starts it, and what follows it."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from palprep import Client

from .conftest import SCRIPT, Palprep, Ran

RESULT_KEYS = [
    *("person", "status", "voice_id", "voice_status"),
    *("replica_id", "replica_status", "reasons", "assets"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def sandbox(folder: Path) -> Iterator[str]:
    """A sandbox as `palprep sandbox` starts it; its address."""
    command = [SCRIPT, "sandbox", "--port", "0", "--data", folder / "service"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=folder, umask=0
    ) as process:
        ready = process.stdout.readline()
        prefix, _, url = ready.strip().rpartition(" ")
        assert prefix == "palprep sandbox ready on"
        yield url
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0


@pytest.fixture(scope="module")
def ran(folder: Path, sandbox: str, sample_media: Path) -> Ran:
    """The main job against that sandbox."""
    done = subprocess.run(
        [SCRIPT, "run", sample_media / "people", "--into", "out", "--json"],
        cwd=folder,
        env={
            "PATH": "/nowhere",
            "PALPREP_BASE_URL": sandbox,
            "PALPREP_API_KEY": "sandbox-user-key",
        },
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
        # This one takes no right away: what is private is so by its own doing.
        umask=0,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_everybody_is_done(ran: Ran) -> None:
    assert ran.code == 0, ran.err
    assert [entry["person"] for entry in ran.objects] == ["anna-miller", "jane-carter"]
    for entry in ran.objects:
        assert list(entry) == RESULT_KEYS
        assert entry["status"] == "done"
        assert entry["reasons"] == []
        assert entry["assets"]
        assert all(asset["passed"] for asset in entry["assets"])


def test_nobody_else_may_read_what_was_written(ran: Ran, folder: Path) -> None:
    written = [*(folder / "out").rglob("*"), *(folder / "service").rglob("*")]
    assert {each.name for each in written} >= {"sandbox.sqlite", "pictures", "consent.mp4"}
    assert any(each.name.endswith(".consent.json") for each in written)
    assert [each for each in written if each.lstat().st_mode & 0o077] == []


def test_results_are_what_the_service_says(ran: Ran, folder: Path, sandbox: str) -> None:
    lines = (folder / "out/results.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == ran.objects
    with Client(api_key="sandbox-user-key", base_url=sandbox) as client:
        for entry in ran.objects:
            voice = client.voices.get(entry["voice_id"])
            assert voice.status == entry["voice_status"] == "completed"
            replica = client.unspecified.get_replica(entry["replica_id"])
            assert replica.status == entry["replica_status"] == "completed"


def test_the_same_command_again_creates_nothing(
    ran: Ran, folder: Path, sandbox: str, sample_media: Path, palprep: Palprep
) -> None:
    again = palprep(
        *("run", sample_media / "people", "--into", "out", "--json"),
        cwd=folder,
        PALPREP_BASE_URL=sandbox,
        PALPREP_API_KEY="sandbox-user-key",
    )
    assert again.code == 0
    ids = [(entry["voice_id"], entry["replica_id"]) for entry in again.objects]
    assert ids == [(entry["voice_id"], entry["replica_id"]) for entry in ran.objects]


def test_status_and_report_read_the_journal(ran: Ran, folder: Path, script: Palprep) -> None:
    status = script("status", folder / "out", "--json")
    assert status.code == 0
    (standing,) = status.objects
    assert [person["status"] for person in standing["people"]] == ["done", "done"]
    assert standing["in_doubt"] == []
    page = folder / "out/report.html"
    page.unlink()
    report = script("report", folder / "out")
    assert report.code == 0
    assert report.out.strip() == str(page)
    assert ran.objects[0]["voice_id"] in page.read_text()


def test_a_later_watch_finds_everything_done(
    ran: Ran, folder: Path, sandbox: str, palprep: Palprep
) -> None:
    key = {"PALPREP_API_KEY": "sandbox-user-key"}
    seen = palprep("watch", folder / "out", "--base-url", sandbox, "--no-wait", **key)
    assert seen.code == 0
    assert "2 people: 2 done" in seen.err
    other = palprep("watch", folder / "out", "--base-url", "http://127.0.0.1:9", **key)
    assert other.code == 2
    assert f"The last run used {sandbox}" in other.err
    both = palprep("watch", folder / "out", "--wait", "1h", "--no-wait")
    assert both.code == 2
    wrong = palprep("watch", folder / "out", "--wait", "soon")
    assert wrong.code == 2
    assert "write 90s, 15m, 4h or 2d" in wrong.err
