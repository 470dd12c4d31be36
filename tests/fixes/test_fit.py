from __future__ import annotations

import base64
import io
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

from palprep.errors import CannotFit
from palprep.fixes.image import BEST_QUALITY, FLOOR_QUALITY, base64_chars, encode, fit

SERVICE_LIMIT = 29_360_128
ENCODE = "palprep.fixes.image.encode"


@pytest.fixture(scope="module")
def noise() -> Image.Image:
    pixels = np.random.default_rng(7).integers(0, 256, (300, 400, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def smooth(width: int, height: int) -> Image.Image:
    rows, columns = np.mgrid[0:height, 0:width]
    waves = [
        127 + 100 * np.sin(columns / a) * np.cos(rows / b) for a, b in ((9, 7), (5, 3), (4, 8))
    ]
    return Image.fromarray(np.stack(waves, axis=-1).astype(np.uint8))


class Counting:
    """An encoder that counts, with sizes made to measure: ``size(width, quality)`` bytes."""

    def __init__(self, size):
        self.size, self.calls = size, []

    def __call__(self, picture, quality):
        self.calls.append((picture.width, quality))
        return bytes(self.size(picture.width, quality))


@given(st.binary(max_size=400))
def test_base64_length_is_that_of_the_real_encoding(data):
    assert base64_chars(len(data)) == len(base64.b64encode(data))


@pytest.mark.parametrize(("size", "accepted"), [(22_020_096, True), (22_020_097, False)])
def test_the_services_limit_to_the_character(size, accepted):
    picture = Image.new("RGB", (64, 64))
    encoder = Counting(lambda width, _: size if width == 64 else 10)
    with patch(ENCODE, encoder):
        found = fit(picture, max_base64_chars=SERVICE_LIMIT)
    assert (found.width == 64) is accepted
    assert base64_chars(len(found.data)) <= SERVICE_LIMIT
    if accepted:
        assert len(base64.b64encode(found.data)) == SERVICE_LIMIT


@pytest.mark.parametrize("quality", [BEST_QUALITY, 90, FLOOR_QUALITY])
def test_a_real_encode_of_exactly_the_limit_fits_and_one_character_less_does_not(noise, quality):
    exact = base64_chars(len(encode(noise, quality)))
    at = fit(noise, max_base64_chars=exact)
    assert (at.quality, at.width, base64_chars(len(at.data))) == (quality, 400, exact)
    below = fit(noise, max_base64_chars=exact - 1)
    assert base64_chars(len(below.data)) <= exact - 1
    assert (below.width, below.quality) < (400, quality)
    decoded = Image.open(io.BytesIO(below.data))
    assert decoded.size == (below.width, below.height)


@settings(max_examples=30)
@given(limit=st.integers(3_000, 400_000))
def test_what_is_returned_fits_and_the_next_better_quality_does_not(noise, limit):
    found = fit(noise, max_base64_chars=limit)
    assert len(base64.b64encode(found.data)) <= limit
    assert FLOOR_QUALITY <= found.quality <= BEST_QUALITY
    if found.width == 400 and found.quality < BEST_QUALITY:
        assert base64_chars(len(encode(noise, found.quality + 1))) > limit
    if found.width < 400:
        assert base64_chars(len(encode(noise, FLOOR_QUALITY))) > limit


def test_size_is_given_up_last_and_as_little_as_possible():
    picture = smooth(1200, 900)
    floor = base64_chars(len(encode(picture, FLOOR_QUALITY)))
    assert fit(picture, max_base64_chars=floor).width == 1200
    found = fit(picture, max_base64_chars=floor // 2)
    larger = picture.resize(
        (found.width + 12, round((found.width + 12) * 0.75)), Image.Resampling.LANCZOS
    )
    assert base64_chars(len(encode(larger, FLOOR_QUALITY))) > floor // 2
    assert abs(found.width * 3 - found.height * 4) <= 4


def test_few_encodes():
    encoder = Counting(lambda width, quality: width * width * quality // 50)
    picture = Image.new("RGB", (400, 300))
    with patch(ENCODE, encoder):
        fit(picture, max_base64_chars=400_000)
    assert len(encoder.calls) <= 7
    encoder.calls.clear()
    with patch(ENCODE, encoder):
        fit(picture, max_base64_chars=30_000)
    assert len(encoder.calls) <= 24


@given(
    sizes=st.lists(st.integers(1, 5_000), min_size=21, max_size=21),
    limit=st.integers(4, 6_000),
)
def test_encoders_that_do_not_grow_with_quality_never_yield_a_misfit(sizes, limit):
    picture = Image.new("RGB", (40, 30))
    encoder = Counting(lambda width, q: 1 + (sizes[q - FLOOR_QUALITY] * width + width % 7) // 40)
    try:
        with patch(ENCODE, encoder):
            found = fit(picture, max_base64_chars=limit)
    except CannotFit:
        smallest = 2  # of 4:3, with a short side of one pixel
        assert base64_chars(encoder.size(smallest, FLOOR_QUALITY)) > limit
    else:
        assert len(base64.b64encode(found.data)) <= limit
        assert (found.width, found.height) <= (40, 30)


def test_a_png_that_fits_at_full_size_stays_one(noise):
    png = base64_chars(len(encode(noise, None)))
    assert fit(noise, png=True, max_base64_chars=png).format == "png"
    found = fit(noise, png=True, max_base64_chars=png - 1)
    assert (found.format, found.width) == ("jpeg", 400)


def test_a_picture_without_metadata_comes_out_of_one_with(noise):
    tagged = noise.copy()
    exif = Image.Exif()
    exif[0x010E] = "secret"
    tagged.info = {"exif": exif.tobytes(), "comment": b"secret", "icc_profile": b"secret" * 9}
    for quality in (90, None):
        data = encode(tagged, quality)
        assert b"secret" not in data
        assert not Image.open(io.BytesIO(data)).getexif()
        assert tagged.info  # the caller's picture keeps its own


def test_a_picture_of_noise_meets_the_services_limit_itself():
    pixels = np.random.default_rng(1).integers(0, 256, (3040, 3000, 3), dtype=np.uint8)
    picture = Image.fromarray(pixels)
    assert base64_chars(len(encode(picture, BEST_QUALITY))) > SERVICE_LIMIT
    found = fit(picture, png=True, max_base64_chars=SERVICE_LIMIT)
    assert (found.format, found.width) == ("jpeg", 3000)
    assert len(base64.b64encode(found.data)) <= SERVICE_LIMIT
    better = encode(picture, found.quality + 1)
    assert len(base64.b64encode(better)) > SERVICE_LIMIT
