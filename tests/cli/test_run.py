"""palprep run: wrong folders, signals, what it tells without a terminal, mistakes of a manifest."""

from __future__ import annotations

import json
import os
import shlex
import signal
import time
from pathlib import Path

import pytest

from palprep.journal import JOURNAL_NAME

from .conftest import Palprep, started


def test_without_a_key_the_service_is_not_asked(palprep: Palprep, sample_media: Path) -> None:
    ran = palprep("run", sample_media / "people", "--base-url", "http://127.0.0.1:9")
    assert ran.code == 2
    assert "PALPREP_API_KEY" in ran.err


@pytest.mark.parametrize("name", ["missing", "empty", "file.txt"])
def test_a_folder_without_people_is_one_clear_line(
    palprep: Palprep, tmp_path: Path, name: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("no folder")
    ran = palprep("run", name)
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert name in ran.err


def test_an_output_in_the_way_is_one_clear_line(
    palprep: Palprep, tmp_path: Path, sample_media: Path
) -> None:
    (tmp_path / "taken").write_text("in the way")
    ran = palprep("run", sample_media / "people", "--into", "taken")
    assert ran.code == 1
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("command", ["status", "report"])
def test_a_folder_without_a_journal_is_one_clear_line(
    palprep: Palprep, tmp_path: Path, command: str
) -> None:
    assert palprep(command, "nothing-here").code == 2
    (tmp_path / "empty").mkdir()
    ran = palprep(command, "empty")
    assert ran.code == 1
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_leaves_a_journal_to_go_on_with(
    light_people: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    asked = ("run", light_people, "--into", "out", "--no-wait")
    with started(*asked, cwd=tmp_path, start_new_session=True) as process:
        give_up = time.monotonic() + 100
        while not list(tmp_path.glob("out/prepared/*/*")) and time.monotonic() < give_up:
            time.sleep(0.05)
        os.killpg(process.pid, number)  # As a closed terminal or a supervisor sends it.
        out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in err
    assert out == ""
    said = err.splitlines()[-1]
    assert said.startswith("Interrupted: 0 of 2 people have ended; progress is saved")
    assert said.endswith(f"Go on with: palprep run {light_people} --into out --no-wait")
    assert (tmp_path / "out" / JOURNAL_NAME).is_file()
    assert not (tmp_path / "out/report.html").exists()
    assert list(tmp_path.glob("out/prepared/**/.palprep-*")) == []
    with pytest.raises(ProcessLookupError):
        _wait_until_alone(process.pid)


def _wait_until_alone(group: int) -> None:
    """Raise ProcessLookupError once no process of the group lives, within 15 s."""
    give_up = time.monotonic() + 15
    while time.monotonic() < give_up:
        os.killpg(group, 0)
        time.sleep(0.05)


def test_what_a_run_tells_without_a_terminal(palprep: Palprep, tmp_path: Path) -> None:
    for name in ("ada", "bob"):
        (tmp_path / "people" / name).mkdir(parents=True)
        (tmp_path / "people" / name / "IMG_1.jpg").write_text("no image")
    (tmp_path / "people" / "ada" / "notes.docx").write_text("x")
    (tmp_path / "people" / "team photo.jpg").write_text("x")
    ran = palprep("run", "people", "--dry-run", "--jobs", "1", "--log-file", "log/run.log")
    assert ran.code == 1
    lines = ran.err.splitlines()
    assert lines[:3] == [
        "team photo.jpg is not used: it lies outside the people's subfolders",
        "2 people: no recording, and no stock_voice (ada, bob)",
        "ada: notes.docx is not used: it is no image, audio or video",
    ]
    assert sorted(line.split(" of 2: ")[0] for line in lines[3:5]) == ["1", "2"]
    assert all(" redo: " in line for line in lines[3:5])
    assert lines[5].startswith("2 people: 2 redo, in ")
    counted, listing, _ = lines[7].split("`")
    assert counted == "2 people: no recording, and no stock_voice ("
    assert lines[8] == "2 guesses about files and names: --verbose tells them"
    twice = "2 people gave a file that somebody else gave, too."
    assert lines[9] == f"{twice} The page names both files."
    assert lines[-1].startswith(
        "Next: see to what the reasons name, and run the same command again."
    )
    assert "`palprep ask palprep-out --into messages`" in lines[-1]
    listed = palprep(*shlex.split(listing)[1:])
    assert listed.out.count("redo") == 2
    other = palprep("status", "palprep-out", "--because", "no_nudity")
    assert other.code == 2
    assert "there is: nothing_to_make" in other.err
    logged = (tmp_path / "log/run.log").read_text()
    assert "ada: prepare face-image" in logged
    assert "IMG_1.jpg is taken as the face-image: it is the only image" in logged
    read = palprep("run", "people", "--dry-run", "--jobs", "1", "--log-format", "json")
    lines = [json.loads(line) for line in read.err.splitlines()]
    assert {(each["person"], each["status"]) for each in lines if "status" in each} == {
        ("ada", "redo"), ("bob", "redo"),
    }  # fmt: skip
    assert all(list(each)[:4] == ["at", "level", "logger", "message"] for each in lines)
    quiet = palprep("run", "people", "--dry-run", "--jobs", "1", "--quiet")
    assert (quiet.code, quiet.err) == (1, "")


def test_every_mistake_of_a_manifest_is_a_line(palprep: Palprep, tmp_path: Path) -> None:
    rows = ("person,voice-audio", "ada,gone.wav", '"bo\x1b[31mb",no.wav')
    (tmp_path / "people.csv").write_text("\n".join(rows), encoding="utf-8")
    ran = palprep("run", "people.csv", "--dry-run")
    assert ran.code == 2
    first, *others = ran.err.splitlines()
    assert first == "palprep: people.csv has 3 mistakes, and nothing was started:"
    assert others[0] == "  line 2, voice-audio: gone.wav is not there"
    assert {each.partition(",")[0] for each in others[1:]} == {"  line 3"}
    assert not (tmp_path / "palprep-out").exists()
