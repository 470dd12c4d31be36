"""Faces and voices compared pair by pair."""

from __future__ import annotations

from pathlib import Path

import pytest
from still_video import forged_video

from palprep.errors import UnsupportedMedia, UsageError
from palprep.preflight import same_person
from palprep.rules import load_profile
from palprep.values import Outcome


def test_a_person_is_the_same_on_two_pictures(folder: Path) -> None:
    twin, blurred, nobody = same_person(
        [folder / "good.jpg", folder / "twin.jpg", folder / "nobody.png"]
    )
    assert twin.outcome is Outcome.PASS
    assert blurred.outcome is nobody.outcome is Outcome.UNKNOWN
    with pytest.raises(UsageError, match="two files at the least: give them in a list"):
        same_person([folder / "good.jpg"])
    with pytest.raises(UsageError, match="paths takes Iterable, not str"):
        same_person(str(folder / "good.jpg"))


@pytest.mark.parametrize("own_s", [0, 3.5])
def test_somebody_else_after_the_beginning_of_a_video_is_another_person(
    spoken_consent: Path, tmp_path: Path, own_s: float
) -> None:
    """Eight seconds of a video could show nobody, or the person who gave consent."""
    picture = (
        "loop=1:300:0,setpts=N/25/TB,"
        f"drawbox=color=gray:t=fill:enable='between(t,{own_s},9)',negate=enable='gt(t,9)'"
    )
    forged = forged_video(spoken_consent, tmp_path / "forged.mp4", picture, "apad=pad_dur=12")
    face, _ = same_person([forged, spoken_consent])
    assert face.outcome is Outcome.FAIL


def test_a_voice_is_the_same_in_video_and_recording_and_another_is_not(sample_media: Path) -> None:
    jane, anna = (sample_media / "people" / name for name in ("jane-carter", "anna-miller"))
    faces_only = load_profile().model_copy(update={"pairs": {}})
    files = [jane / "recording.m4a", jane / "consent.mp4", anna / "recording.mov"]
    assert same_person(files, profile=faces_only) == ()
    face, own, other, across = same_person(files)
    assert face.id == "same_person"
    assert {own.id, other.id, across.id} == {"same_voice"}
    assert own.outcome is Outcome.PASS
    assert own.sentence == "recording.m4a and consent.mp4 contain the same voice."
    assert other.outcome is across.outcome is Outcome.FAIL
    assert across.sentence == (
        "consent.mp4 and recording.mov contain the voices of different people."
    )


def test_where_nobody_speaks_no_voice_is_compared(sample_media: Path) -> None:
    recording = sample_media / "people" / "jane-carter" / "recording.m4a"
    (found,) = same_person([recording, sample_media / "broken" / "silent-training.mp4"])
    assert found.outcome is Outcome.UNKNOWN
    assert "less than 3 s of speech" in found.sentence
    with pytest.raises(UnsupportedMedia, match="neither face nor voice"):
        same_person([recording, sample_media / "broken" / "text-named-video.mp4"])
