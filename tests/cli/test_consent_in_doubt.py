"""A doubt about consent: exit code 4 wherever it is listened for, and no replica."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import httpx
import pytest

from palprep.sandbox import Sandbox

from .conftest import Palprep

NAME = "Jane Garter"
"""Near enough to what is said that no one can be sure by its sound."""


@pytest.fixture
def video(light_people: Path) -> Path:
    return light_people / "jane-carter/consent.mp4"


def test_consent_ends_with_the_doubt(palprep: Palprep, video: Path) -> None:
    ran = palprep("consent", video, "--name", NAME)
    assert ran.code == 4
    assert ran.out.startswith("WARN")
    assert "Next: whether consent is given is in doubt." in ran.err


@pytest.mark.parametrize(
    "command",
    [
        ("check", "--as", "consent-video"),
        ("fix", "--into", "out", "--as", "consent-video"),
        ("check", "--as", "training-video"),
    ],
)
def test_check_and_fix_end_with_the_doubt(
    palprep: Palprep, video: Path, command: tuple[str, ...]
) -> None:
    doubtful = palprep(*command, video, "--name", NAME)
    assert doubtful.code == 4
    assert "Only the name is in doubt" in doubtful.out
    assert "Next: whether consent is given is in doubt." in doubtful.err
    assert palprep(*command, video, "--name", "Robert Miller").code == 1


@pytest.mark.parametrize("command", [("check",), ("fix", "--into", "out")])
def test_a_doubt_outweighs_a_file_that_fails(
    palprep: Palprep, video: Path, sample_media: Path, command: tuple[str, ...]
) -> None:
    unfit = sample_media / "broken/landscape-without-a-face.jpg"
    assert palprep(*command, video, unfit, "--name", NAME).code == 4


def test_no_replica_is_made_before_somebody_has_decided(
    palprep: Palprep, video: Path, tmp_path: Path
) -> None:
    person = tmp_path / "people/jane"
    person.mkdir(parents=True)
    for name in ("consent.mp4", "training.mp4"):
        shutil.copy(video.with_name(name), person / name)
    shutil.copy(video.with_name("recording.m4a"), person / "recording.m4a")
    (person / "person.toml").write_text(f'full_name = "{NAME}"\n')
    with Sandbox(data=tmp_path / "service") as sandbox:
        service = {"PALPREP_BASE_URL": sandbox.url, "PALPREP_API_KEY": sandbox.user_key}

        def run_it() -> None:
            ran = palprep("run", "people", "--into", "out", "--json", **service)
            assert ran.code == 4, ran.err
            [line] = ran.objects
            assert (line["person"], line["status"]) == ("jane", "needs_decision")
            assert (line["voice_status"], line["replica_id"]) == ("completed", None)
            assert line["reasons"][0].startswith(
                "Only the voice is made. consent.mp4 (consent-video): Only the name is in doubt"
            )
            listen = line["reasons"][0].partition("is required. ")[2]
            assert re.fullmatch(r"Listen to the prepared file from \d\.\d s to \d\.\d s\.", listen)
            assert (
                "Next: `palprep review out` asks what is open, with the files to look at; or decide"
                in ran.err
            )

        run_it()
        run_it()
        log = httpx.get(f"{sandbox.url}/_sandbox/log", trust_env=False).json()
    assert {kind: count for kind, count in log["creates"].items() if count} == {"voice": 1}
    assert "POST /v2/replicas" not in {
        f"{each['method']} {each['path']}" for each in log["requests"]
    }
    standing = palprep("status", "out")
    assert standing.code == 4
    assert "Only the name is in doubt" in standing.out
    listen = r"Listen to out/prepared/jane/consent\S+, \d\.\d s to \d\.\d s, then\n"
    assert re.search(listen, standing.out)
    assert "palprep decide out jane --accept --by NAME --because TEXT" in standing.out
    dossier = palprep("dossier", "out")
    assert dossier.code == 4
    assert dossier.out.startswith("OPEN")
    assert "Only the name is in doubt" in dossier.out
    assert palprep("report", "out").code == 0
    page = (tmp_path / "out/report.html").read_text("utf-8")
    assert "What needs a decision" in page
    accepted = palprep("decide", "out", "jane", "--accept", "--by", "Eve", "--because", "it is her")
    assert accepted.code == 0
    assert "by somebody named “Eve”: “it is her”." in accepted.out
    assert "nothing proves who decided. Next: start `palprep run` again." in accepted.err
    assert palprep("status", "out").code == 5
    shown = palprep("dossier", "out")
    assert (shown.code, shown.out[:5]) == (0, "HOLDS")
    kept = " ".join(shown.out.split())
    assert [line for line in accepted.out.splitlines() if line.strip() not in kept] == []
