"""palprep's own checks as the sandbox's trainer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from palprep.batch.sandbox_judges import train
from palprep.errors import DamagedMedia


def test_a_fit_recording_trains(wav: Path) -> None:
    assert train("voice", (wav,)) is None


def test_an_ending_that_lies_fails_as_the_service_says_it(wav: Path, tmp_path: Path) -> None:
    lying = tmp_path / "recording.mp4"
    shutil.copy(wav, lying)
    assert "voice-audio: Extension matches the content" in (train("voice", (lying,)) or "")


def test_what_is_no_media_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "training.mp4"
    path.write_text("no video")
    with pytest.raises(DamagedMedia, match="text"):
        train("replica-video", (path,))
