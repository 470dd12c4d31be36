"""The statement to listen to, as sound in the page."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import av
import imageio_ffmpeg
import pytest

from palprep.consent import ConsentFacts
from palprep.errors import MediaError
from palprep.views.drawings.pictures import statement_audio

HEARD = ConsentFacts(
    outcome="pass", transcript="I agree", starts_at=2.0, ends_at=5.0, words=(), reasons=(),
    statement="I agree", full_name="Ada", language="en",
)  # fmt: skip
NOT_FOUND = HEARD.model_copy(update={"starts_at": None, "ends_at": None})


@pytest.fixture
def video(sample_media: Path) -> Path:
    return sample_media / "people/jane-carter/consent.mp4"


@pytest.mark.parametrize(("facts", "seconds"), [(HEARD, 5.0), (NOT_FOUND, 12.5)])
def test_the_statement_is_a_small_mono_sound(
    video: Path, facts: ConsentFacts, seconds: float
) -> None:
    sound = statement_audio(video, facts)
    assert sound is not None
    assert sound.data_uri.startswith("data:audio/mpeg;base64,")
    assert len(sound.data) < 4_000 * seconds
    with av.open(io.BytesIO(sound.data)) as container:
        assert container.streams.audio[0].channels == 1
        assert container.duration is not None
        assert container.duration / av.time_base == pytest.approx(seconds, abs=0.2)


def test_sound_that_starts_after_the_picture_is_heard_to_its_end(
    video: Path, tmp_path: Path
) -> None:
    """Its length is counted from its own start, and the statement's times from the picture's."""
    late, taken = tmp_path / "late.mp4", ["-i", str(video)]
    exe = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", "-nostdin"]
    mapped = ["-map", "0:v", "-map", "1:a", "-c", "copy", str(late)]
    subprocess.run([*exe, *taken, "-itsoffset", "3", *taken, *mapped], check=True)
    sound = statement_audio(late, HEARD.model_copy(update={"starts_at": 3.5, "ends_at": 15.0}))
    assert sound is not None
    with av.open(io.BytesIO(sound.data)) as container:
        assert container.duration is not None
        assert container.duration / av.time_base == pytest.approx(12.5, abs=0.3)


def test_a_long_recording_stays_short(sample_media: Path) -> None:
    sound = statement_audio(sample_media / "people/jane-carter/training.mp4", NOT_FOUND)
    assert sound is not None
    with av.open(io.BytesIO(sound.data)) as container:
        assert container.duration is not None
        assert container.duration / av.time_base == pytest.approx(60.0, abs=0.2)


def test_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(MediaError):
        statement_audio(tmp_path / "gone.mp4", HEARD)
