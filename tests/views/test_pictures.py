"""One picture for each file: a thumbnail, a timeline, or a portrait with its findings."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from palprep.errors import UnsupportedMedia
from palprep.media import images
from palprep.media.sources import Source
from palprep.preflight import check
from palprep.values import Span
from palprep.views.drawings.pictures import Embedded, report_picture, statement_frames
from tests.support.drawn import pictures


def opened(picture: Embedded | None) -> Image.Image:
    assert picture is not None
    image = Image.open(io.BytesIO(picture.data))
    assert Image.MIME[image.format] == picture.mime
    return image.convert("RGB")


def thumbnail(path: Path) -> Embedded:
    return Embedded(images.thumbnail(Source.of(path)), "image/jpeg")


def test_a_thumbnail_is_upright(tmp_path: Path) -> None:
    """Red on the left once EXIF's turn is made."""
    pixels = np.zeros((300, 600, 3), np.uint8)
    pixels[:, :300] = (220, 30, 30)
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = Image.fromarray(pixels).transpose(Image.Transpose.ROTATE_90)
    turned.save(tmp_path / "turned.jpg", quality=95, exif=exif)
    small = opened(thumbnail(tmp_path / "turned.jpg"))
    assert small.size == (480, 240)
    assert small.getpixel((60, 120))[0] > 200
    assert small.getpixel((420, 120))[0] < 20


def test_a_video_has_a_thumbnail_and_audio_has_none(sample_media: Path) -> None:
    jane = sample_media / "people/jane-carter"
    assert opened(thumbnail(jane / "consent.mp4")).size == (480, 270)
    with pytest.raises(UnsupportedMedia):
        thumbnail(jane / "recording.m4a")


@pytest.mark.parametrize(
    ("name", "width"),
    [("portrait.heic", 500), ("consent.mp4", 1400), ("recording.m4a", None)],
)
def test_what_was_seen_of_a_file(sample_media: Path, name: str, width: int | None) -> None:
    report = check(sample_media / "people/jane-carter" / name, quick=True)
    picture = report_picture(report, side=500)
    if width is None:
        assert picture is None
    else:
        assert picture is not None
        assert picture.mime == "image/svg+xml"
        assert f'width="{width}"'.encode() in picture.data
        assert [*pictures(picture.data)]


def test_the_speaker_is_shown_while_the_statement_is_spoken(sample_media: Path) -> None:
    video = sample_media / "people/jane-carter/consent.mp4"
    found = statement_frames(video, Span(start_s=0.5, end_s=5.5))
    assert [at_s for at_s, _ in found] == pytest.approx([1.0, 2.0, 3.0, 4.0, 5.0], abs=0.3)
    assert {max(opened(picture).size) for _, picture in found} == {240}


def test_a_picture_is_its_own_address() -> None:
    assert Embedded(b"abc", "image/png").data_uri == "data:image/png;base64,YWJj"
