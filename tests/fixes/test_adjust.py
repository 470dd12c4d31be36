from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from palprep.errors import FixError
from palprep.fixes.adjust import adjust
from palprep.media.light import LINEAR, to_srgb
from palprep.rules.plans.plan import Crop, ImagePlan


def plan(**steps) -> ImagePlan:
    return ImagePlan(reasons=(), max_base64_chars=1_000, **steps)


def scene() -> Image.Image:
    """Grey with a red disc right of the centre and a blue one above it."""
    picture = Image.new("RGB", (400, 300), (90, 90, 90))
    draw = ImageDraw.Draw(picture)
    draw.ellipse((240, 140, 260, 160), fill=(255, 0, 0))
    draw.ellipse((190, 90, 210, 110), fill=(0, 0, 255))
    return picture


def centre_of(picture: Image.Image, channel: int) -> tuple[float, float]:
    pixels = np.asarray(picture).astype(float)
    others = [each for each in range(3) if each != channel]
    rows, columns = np.nonzero(pixels[..., channel] - pixels[..., others].max(axis=-1) > 100)
    return columns.mean(), rows.mean()


def test_no_steps_change_nothing():
    assert np.array_equal(np.asarray(adjust(scene(), plan())), np.asarray(scene()))


def test_a_crop_takes_exactly_its_pixels():
    crop = Crop(left=30, top=50, width=100, height=80)
    cropped = adjust(scene(), plan(crop=crop))
    assert np.array_equal(np.asarray(cropped), np.asarray(scene())[50:130, 30:130])


@pytest.mark.parametrize("degrees", [30.0, 10.0, -7.5])
def test_levelling_turns_counter_clockwise_about_the_crops_centre(degrees):
    crop = Crop(left=110, top=60, width=180, height=180)  # centred on (200, 150)
    if degrees == 30.0:
        crop = Crop(left=95, top=45, width=210, height=210)
    turned = adjust(scene(), plan(crop=crop, level_deg=degrees))
    assert turned.size == (crop.width, crop.height)
    radians = np.radians(degrees)
    centre = crop.width / 2 - 0.5  # of pixel centres
    expected_red = (centre + 50.5 * np.cos(radians), centre - 50.5 * np.sin(radians))
    assert centre_of(turned, 0) == pytest.approx(expected_red, abs=0.75)
    expected_blue = (centre - 49.5 * np.sin(radians), centre - 49.5 * np.cos(radians))
    assert centre_of(turned, 2) == pytest.approx(expected_blue, abs=0.75)


def test_a_level_picture_turned_there_and_back_is_nearly_itself():
    rows, columns = np.mgrid[0:300, 0:400]
    wave = (127 + 60 * np.sin(columns / 12) + 50 * np.cos(rows / 9)).astype(np.uint8)
    picture = Image.merge("RGB", [Image.fromarray(wave)] * 3)
    there = adjust(picture, plan(level_deg=5, crop=Crop(left=50, top=40, width=300, height=220)))
    back = adjust(there, plan(level_deg=-5, crop=Crop(left=50, top=40, width=200, height=140)))
    original = np.asarray(picture)[80:220, 100:300].astype(int)
    assert np.abs(np.asarray(back).astype(int) - original).max() <= 3


def test_nothing_is_painted_a_turned_crop_shows_only_picture():
    white = Image.new("RGB", (400, 300), "white")
    crop = Crop(left=80, top=60, width=240, height=180)
    assert np.asarray(adjust(white, plan(level_deg=12, crop=crop))).min() == 255


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ({"level_deg": 1.0}, r"400x300 px at \(0, 0\) turned by 1° reaches outside"),
        ({"crop": Crop(left=301, top=0, width=100, height=100)}, "reaches outside"),
        ({"crop": Crop(left=0, top=-1, width=100, height=100)}, "reaches outside"),
        (
            {"crop": Crop(left=0, top=0, width=390, height=290), "level_deg": 3.0},
            "turned by 3° reaches outside",
        ),
    ],
)
def test_a_crop_outside_the_picture_is_an_error(steps, words):
    with pytest.raises(FixError, match=words):
        adjust(scene(), plan(**steps))


def test_the_whole_picture_is_a_crop_within_it():
    whole = Crop(left=0, top=0, width=400, height=300)
    assert adjust(scene(), plan(crop=whole)).size == (400, 300)


def test_one_stop_doubles_the_light():
    grey = Image.new("RGB", (8, 8), (100, 100, 100))
    for ev in (1.0, -1.0):
        value = np.asarray(adjust(grey, plan(exposure_ev=ev)))[0, 0, 0]
        assert LINEAR[value] / LINEAR[100] == pytest.approx(2.0**ev, rel=0.02)


def test_white_balance_brings_a_cast_to_grey_turned_or_not():
    cast = Image.new("RGB", (100, 100), (150, 120, 90))
    red, green, blue = (LINEAR[each] for each in (150, 120, 90))
    gains = (float(green / red), 1.0, float(green / blue))
    flat = np.asarray(adjust(cast, plan(white_balance=gains)))
    assert np.ptp(flat.reshape(-1, 3), axis=1).max() <= 1
    crop = Crop(left=20, top=20, width=60, height=60)
    turned = np.asarray(adjust(cast, plan(white_balance=gains, level_deg=5, crop=crop)))
    assert np.ptp(turned.reshape(-1, 3), axis=1).max() <= 1
    assert abs(int(turned[30, 30, 0]) - int(flat[30, 30, 0])) <= 1


def test_every_8_bit_value_survives_linear_light_and_back():
    assert np.array_equal(to_srgb(LINEAR), np.arange(256))
    assert np.array_equal(to_srgb(np.float32([-1.0, 2.0])), [0, 255])
