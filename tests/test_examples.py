"""The scripts in examples/ are short, and run as they stand against a sandbox."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from palprep.sandbox import Choices, Sandbox

SHORT = 20
"""A script has fewer lines than this, its docstring and blank lines aside."""


@pytest.fixture(scope="module")
def service() -> Iterator[Sandbox]:
    with Sandbox(choices=Choices(voice_seconds=0.2, replica_seconds=0.2)) as running:
        yield running


@pytest.fixture
def example(
    checkout: Path, service: Sandbox, measuring_once: dict[str, str], tmp_path: Path
) -> Callable[..., list[str]]:
    """``example(script, *arguments)``: the lines that it prints."""
    service_here = {"PALPREP_BASE_URL": service.url, "PALPREP_API_KEY": service.user_key}

    def run(script: str, *arguments: Path | str) -> list[str]:
        command = [sys.executable, checkout / "examples" / script, *arguments]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={
                **os.environ,
                **service_here,
                **measuring_once,
                "PYTHONWARNINGS": "error::DeprecationWarning:__main__",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    return run


def test_each_is_short(checkout: Path) -> None:
    scripts = sorted((checkout / "examples").glob("*.py"))
    assert len(scripts) == 3
    for script in scripts:
        text = script.read_text()
        documented = ast.parse(text).body[0].end_lineno or 0
        code = [line for line in text.splitlines()[documented:] if line.strip()]
        assert len(code) < SHORT, script.name


@pytest.mark.documented
def test_an_image_becomes_a_replica(example, light_people: Path, tmp_path: Path) -> None:
    portrait = light_people / "jane-carter/portrait.heic"
    [line] = example("portrait_to_replica.py", portrait, "Jane")
    assert line.startswith("Jane completed r")
    assert (tmp_path / "ready/portrait.jpg").is_file()


@pytest.mark.documented
@pytest.mark.parametrize(
    ("script", "given"),
    [
        ("portrait_to_replica.py", ["broken/landscape-without-a-face.jpg"]),
        ("training_video_to_replica.py", ["people/anna-miller/recording.mov"] * 2),
    ],
)
def test_what_is_not_fit_is_explained(checkout, sample_media: Path, tmp_path, script, given):
    files = [sample_media / each for each in given]
    done = subprocess.run(
        [sys.executable, checkout / "examples" / script, *files, "Nobody"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert all(f"{each} -> " in done.stderr for each in files)
    assert "FAIL" in done.stderr


@pytest.mark.documented
def test_recordings_become_voices(
    example, light_people: Path, sample_media: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "recordings"
    folder.mkdir()
    shutil.copy(light_people / "jane-carter/recording.m4a", folder / "jane.m4a")
    shutil.copy(light_people / "anna-miller/recording.mov", folder / "anna.mov")
    shutil.copy(sample_media / "broken/text-named-video.mp4", folder)
    shutil.copy(sample_media / "code.m4a", folder)
    lines = sorted(example("recordings_to_voices.py", folder))
    assert [line.split()[:2] for line in (lines[0], lines[2])] == [
        ["anna.mov", "completed"],
        ["jane.m4a", "completed"],
    ]
    # Of what is not fit no voice is made.
    assert lines[1].startswith("code.m4a The recording is too short: ")
    assert lines[3].startswith("text-named-video.mp4 text-named-video.mp4 is a text file")


@pytest.mark.documented
def test_a_training_video_and_a_consent_video_become_a_replica(example, light_people) -> None:
    jane = light_people / "jane-carter"
    [line] = example(
        "training_video_to_replica.py", jane / "training.mp4", jane / "consent.mp4", "Jane Carter"
    )
    assert line.startswith("Jane Carter completed r")
