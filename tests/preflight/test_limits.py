"""How far a file is read: as far as the profile's limits ask for."""

from __future__ import annotations

import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
from bombs import WEBP_120_MEGAPIXELS, png_of_zeros
from PIL import Image

from palprep.errors import UnsupportedMedia
from palprep.preflight import check, prepare
from palprep.rules import load_profile
from palprep.values import Outcome, Role

JANE = Path(__file__).parents[2] / "sample_media/people/jane-carter"

PEAK = """
import sys
from pathlib import Path
from palprep.errors import PalprepError
from palprep.preflight import prepare
for path in sys.argv[2:]:
    try:
        prepare(path, into=sys.argv[1])
    except PalprepError as error:
        print(error.code, file=sys.stderr)
status = Path("/proc/self/status").read_text()
print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)
"""


def outcomes(report):
    return {each.id: each.outcome for each in report.checks}


@pytest.fixture
def profile(tmp_path):
    """A profile with one limit of its own."""

    def write(role: str, rule: str, most: float) -> Path:
        path = tmp_path / "profile.toml"
        path.write_text(
            f'name = "own"\nextends = "core-4"\n[[limits.{role}.{rule}]]\nmax = {most}\n'
            'level = "fail"\nsource = "a test"\ndate = 2026-11-22\n'
        )
        return path

    return write


def test_an_image_of_too_much_memory_is_a_finding_and_has_no_fix(tmp_path):
    path = tmp_path / "bomb.webp"
    path.write_bytes(WEBP_120_MEGAPIXELS)
    report = check(path)
    assert report.error is None
    assert outcomes(report)["image_memory"] is Outcome.FAIL
    assert outcomes(report)["only_one_person_visible"] is Outcome.UNKNOWN
    with pytest.raises(UnsupportedMedia, match="given 250 MB"):
        prepare(path, into=tmp_path / "out")


def test_the_profile_says_how_much_memory_an_image_gets(tmp_path, profile):
    path = tmp_path / "a.png"
    Image.new("RGB", (1200, 1000)).save(path)
    assert outcomes(check(path))["image_memory"] is Outcome.PASS
    strict = profile("face-image", "image_memory", 1)
    assert outcomes(check(path, profile=strict))["image_memory"] is Outcome.FAIL


def test_sound_is_heard_as_far_as_the_profile_asks(tmp_path, profile):
    path = tmp_path / "long.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(24_000)
        file.writeframes((np.sin(np.arange(30 * 24_000) / 20) * 9000).astype("<i2").tobytes())
    report = check(path, profile=profile("voice-audio", "audio_duration", 4))
    recording, voice = report.facts.recording, report.facts.voice
    assert recording.duration_s == pytest.approx(30)
    assert recording.heard_s == pytest.approx(voice.duration_s) == pytest.approx(4, abs=0.3)
    assert outcomes(report)["audio_duration"] is Outcome.FAIL
    whole = check(path).facts
    assert (whole.recording.heard_s, whole.voice.duration_s) == (None, pytest.approx(30))


def test_a_video_is_looked_at_as_far_as_the_profile_asks(profile):
    own = profile("consent-video", "video_duration", 3)
    report = check(JANE / "consent.mp4", role="consent-video", profile=own)
    video = report.facts.video
    assert video.audio.heard_s == pytest.approx(3, abs=0.3) != video.audio.duration_s
    assert video.duration_s > 5
    assert video.signal.seconds[-1].at_s <= 3
    assert report.facts.footage.samples[-1].at_s <= 3
    assert outcomes(report)["video_duration"] is Outcome.FAIL


def test_every_role_of_every_profile_has_its_limits():
    for name in ("core-4", "core-4.5", "core-3"):
        profile = load_profile(name)
        for role, rule, most in (
            (Role.FACE_IMAGE, "image_memory", 250),
            (Role.VOICE_AUDIO, "audio_duration", 3600),
            (Role.TRAINING_VIDEO, "video_duration", 3600),
            (Role.CONSENT_VIDEO, "video_duration", 3600),
        ):
            assert profile.tightest_maximum(role, rule, Outcome.FAIL) == most


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the peak of a process")
def test_checking_and_fixing_any_image_takes_600_mib(tmp_path):
    """The largest PNG that is decoded, one that is not, and the smallest bomb."""
    largest, larger, bomb = (tmp_path / name for name in ("a.png", "b.png", "c.webp"))
    largest.write_bytes(png_of_zeros(7800, 7900))
    larger.write_bytes(png_of_zeros(7800, 8100))
    bomb.write_bytes(WEBP_120_MEGAPIXELS)
    ended = subprocess.run(
        [sys.executable, "-c", PEAK, str(tmp_path / "out"), str(largest), str(larger), str(bomb)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr.split() == ["media_unsupported"] * 2
    assert 300 < float(ended.stdout) < 600
