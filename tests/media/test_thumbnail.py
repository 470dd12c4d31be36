"""Small images of a video at given times."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from palprep.errors import UnsupportedMedia
from palprep.media.images.frames import frames_at
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
