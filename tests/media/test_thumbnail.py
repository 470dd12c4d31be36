"""Frames of a video at given times, and spread over it."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import av
import pytest
from PIL import Image

from palprep.errors import UnsupportedMedia
from palprep.media.images.frames import frames_at, spread_frames, thumbnail
from palprep.media.sources.source import Source


def test_frames_are_those_of_the_times_asked_for(sample_media: Path) -> None:
    source = Source.of(sample_media / "people/jane-carter/consent.mp4")
    found = frames_at(source, (0.0, 1.9, 5.0, 900.0), max_side=96)
    assert [at_s for at_s, _ in found] == pytest.approx([0.0, 1.9, 5.0], abs=0.3)
    images = [Image.open(io.BytesIO(data)) for _, data in found]
    assert {(image.format, max(image.size)) for image in images} == {("JPEG", 96)}


def test_audio_has_no_frames(sample_media: Path) -> None:
    source = Source.of(sample_media / "people/jane-carter/recording.m4a")
    with pytest.raises(UnsupportedMedia):
        frames_at(source, (1.0,))


@pytest.mark.parametrize("group", ["50", "1000"], ids=["key frames", "one key frame"])
def test_frames_of_all_parts_of_a_video(make_video, group):
    path = make_video(seconds=20, codec_options={"g": group, "sc_threshold": "0"})
    found = [frame.at_s for frame in spread_frames(Source.of(path), 5, max_side=64)]
    assert len(found) == 5
    steps = [after - before for before, after in pairwise(found)]
    assert found[0] <= 2
    assert found[-1] >= 16
    assert max(steps) <= 6


def test_of_a_short_video_one_a_second(make_video):
    frames = spread_frames(Source.of(make_video(seconds=4)), 5)
    assert [round(frame.at_s) for frame in frames] == [0, 1, 2, 3]


def test_frames_of_a_video_that_is_cut_off_are_those_that_are_there(make_video, tmp_path):
    options, codec_options = {"movflags": "faststart"}, {"g": "25"}
    whole = make_video(seconds=30, options=options, codec_options=codec_options)
    path = tmp_path / "part.mp4"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    found = [frame.at_s for frame in spread_frames(Source.of(path), 5, max_side=64)]
    assert 1 <= len(found) < 5


def test_a_damaged_frame_of_a_video_is_passed_over(make_video):
    path = make_video(seconds=30, codec_options={"g": "50", "sc_threshold": "0"})
    with av.open(str(path)) as container:
        found = [each for each in container.demux(video=0) if each.size and each.is_keyframe]
        keys = [(each.pos, each.size) for each in found]
    with path.open("r+b") as file:
        for position, size in keys[1::3]:
            file.seek(position)
            file.write(b"\xff" * (size or 0))
    assert len([*spread_frames(Source.of(path), 5, max_side=64)]) == 5
    assert thumbnail(Source.of(path))
