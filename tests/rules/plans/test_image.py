"""Crops, turns and light: whatever is proposed must hold for any face anywhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from portraits import FLAWLESS

from palprep.rules.plans.image import (
    LARGEST_SHARE,
    MAX_EV,
    MAX_GAIN,
    SIDE_ROOM,
    adjustments,
    framing_advice,
    propose_crop,
    propose_exposure,
    propose_white_balance,
)
from palprep.values import Rect
from palprep.vision import Framing, PortraitFacts, Quality
from palprep.vision.facts import FaceFacts
from palprep.vision.quality import gains_to_natural_hue, pixels_to_lab

QUALITY = Quality(
    face_px=400, sharpness=0.6, brightness=0.62, peak=0.85, saturated=0.0, clipped_highlights=0.0,
    clipped_shadows=0.0,
    contrast=0.5, noise=1.0, skin_gains=(1.0, 1.0, 1.0), skin_hue_deg=50.0,
    skin_chroma=25.0, vivid_chroma=35.0, blocking=1.1,
)  # fmt: skip


def portrait(
    width: int, height: int, x: float, y: float, face: float, **quality: object
) -> PortraitFacts:
    """A picture with a face of that height around (x, y)."""
    box = Rect(x=x - 0.4 * face, y=y - face / 2, width=0.8 * face, height=face)
    top = box.y - 0.3 * face
    framing = Framing(
        face=box, head=Rect(x=box.x, y=top, width=box.width, height=1.3 * face),
        centre_x=x / width, face_height_share=face / height,
        margin_top=top / face, margin_side=min(box.x, width - box.x - box.width) / face,
        margin_bottom=(height - y - face / 2) / face,
    )  # fmt: skip
    return PortraitFacts(
        width=width, height=height, faces=(), person_share=0.4, fingerprint="0" * 16,
        quality=QUALITY.model_copy(update=quality), framing=framing, subject=None,
    )  # fmt: skip


PORTRAITS = st.builds(
    portrait,
    width=st.integers(400, 6000), height=st.integers(400, 6000),
    x=st.floats(50, 5900), y=st.floats(50, 5900), face=st.floats(60, 3000),
)  # fmt: skip


@given(PORTRAITS, st.floats(-20, 20))
def test_every_crop_is_a_framed_portrait_inside_the_picture(picture, level) -> None:
    crop = propose_crop(picture, level_deg=level)
    if crop is None:
        return
    face, head = picture.framing.face, picture.framing.head
    assert min(crop.width, crop.height) >= 512
    assert crop.lies_within(picture.width, picture.height, level_deg=level)
    assert face.height / crop.height <= LARGEST_SHARE + 0.01
    assert crop.width + 3 >= face.width * (1 + 2 * SIDE_ROOM)
    if level == 0:
        middle = crop.left + crop.width / 2
        assert abs(middle - (face.x + face.width / 2)) <= 2
        assert crop.top <= max(head.y, 0) + 1
        assert crop.top + crop.height >= face.y + face.height


def test_a_face_at_the_side_comes_to_the_middle() -> None:
    picture = portrait(1600, 1200, 500, 500, 400)
    crop = propose_crop(picture)
    assert crop is not None
    assert crop.left + crop.width / 2 == pytest.approx(500, abs=2)
    assert "crops it to" in framing_advice(picture, picture.framing)


def test_a_small_face_is_brought_to_chest_up_size() -> None:
    crop = propose_crop(portrait(3000, 4000, 1500, 900, 400))
    assert crop is not None
    assert 0.22 <= 400 / crop.height <= 0.4


@pytest.mark.parametrize(
    ("picture", "words"),
    [
        (portrait(800, 600, 400, 370, 450), "times the distance"),
        (portrait(1000, 1000, 500, 300, 80), "full resolution"),
        (portrait(1000, 1000, 500, 100, 300), "border cuts"),
        (portrait(1600, 1200, 300, 500, 480), "left at the left"),
    ],
)
def test_what_no_crop_fixes_gets_words_for_a_retake(picture, words) -> None:
    assert propose_crop(picture) is None
    assert words in framing_advice(picture, picture.framing)


def test_no_crop_chooses_between_people() -> None:
    picture = portrait(1600, 1200, 500, 500, 400)
    faces = tuple(
        FaceFacts(box=box, score=0.94, presence=1.0)
        for box in (picture.framing.face, Rect(x=1100, y=300, width=280, height=350))
    )
    crowded = picture.model_copy(update={"faces": faces})
    assert propose_crop(picture) is not None
    assert propose_crop(crowded) is None
    assert "Several people" in framing_advice(crowded, crowded.framing)
    assert adjustments(crowded, frozenset({"person_centered"})).reasons == ()


def test_a_turned_crop_gives_up_headroom_before_it_gives_up() -> None:
    picture = portrait(1500, 1100, 750, 330, 260)
    level = propose_crop(picture, level_deg=12)
    plain = propose_crop(picture)
    assert level is not None
    assert plain is not None
    assert plain.top < level.top <= picture.framing.head.y
    assert level.lies_within(1500, 1100, level_deg=12)


def test_without_room_to_turn_the_crop_alone_is_made() -> None:
    pose = FLAWLESS.subject.pose.model_copy(update={"roll_deg": 15.0})
    subject = FLAWLESS.subject.model_copy(update={"pose": pose})
    picture = portrait(1000, 1100, 350, 400, 260).model_copy(update={"subject": subject})
    adjusted = adjustments(picture, frozenset({"person_centered", "head_level"}))
    assert [reason.fix for reason in adjusted.reasons] == ["crop"]
    assert (adjusted.level_deg, adjusted.crop) == (0.0, propose_crop(picture))
    assert adjustments(picture, frozenset({"head_level"})) == adjustments(picture, frozenset())


def test_an_image_is_turned_whichever_check_asks_for_a_change() -> None:
    """A profile may leave out how the head leans: places are of the turned image all the same."""
    subject = FLAWLESS.subject.model_copy(update={"turned_deg": 90})
    picture = portrait(1500, 1100, 950, 300, 260).model_copy(update={"subject": subject})
    adjusted = adjustments(picture, frozenset({"person_centered"}))
    assert [(each.fix, each.answers) for each in adjusted.reasons] == [
        ("turn", ()), ("crop", ("person_centered",)),
    ]  # fmt: skip
    assert (adjusted.turned_deg, adjusted.crop) == (90, propose_crop(picture))


def test_a_burnt_out_face_keeps_its_colour() -> None:
    cast = {"skin_gains": (1.3, 1.0, 0.8), "skin_hue_deg": -110.0, "skin_chroma": 14.0}
    assert propose_white_balance(portrait(900, 900, 450, 400, 300, **cast)) != (1, 1, 1)
    burnt = portrait(900, 900, 450, 400, 300, **cast, clipped_highlights=0.1)
    assert propose_white_balance(burnt) == (1, 1, 1)


def test_no_colour_is_corrected_where_white_is_white() -> None:
    cast = {"skin_gains": (1.3, 1.0, 0.8), "skin_hue_deg": -110.0, "skin_chroma": 14.0}
    shirt = portrait(900, 900, 450, 400, 300, **cast, white=0.02)
    assert propose_white_balance(shirt) == (1, 1, 1)


@given(st.just(0.0) | st.floats(0.01, 1.0), st.floats(0, 0.2))
def test_exposure_stays_moderate_and_goes_the_right_way(brightness, clipped) -> None:
    stops = propose_exposure(
        portrait(1600, 1200, 800, 500, 400, brightness=brightness, clipped_highlights=clipped)
    )
    assert abs(stops) <= MAX_EV
    assert stops == 0 or (stops > 0) == (brightness < 0.62)
    if clipped > 0.02:
        assert stops >= 0


@given(st.tuples(*[st.integers(1, 255)] * 3))
def test_white_balance_is_moderate_and_leaves_green(rgb) -> None:
    lab = pixels_to_lab(np.array([[rgb]], np.uint8))[0, 0]
    hue, chroma = math.degrees(math.atan2(lab[2], lab[1])), math.hypot(lab[1], lab[2])
    picture = portrait(
        1600,
        1200,
        800,
        500,
        400,
        skin_hue_deg=hue,
        skin_chroma=chroma,
        skin_gains=gains_to_natural_hue(np.array(rgb, np.uint8)),
    )
    red, green, blue = propose_white_balance(picture)
    assert green == 1
    assert 1 / MAX_GAIN - 0.001 <= min(red, blue) <= max(red, blue) <= MAX_GAIN
    if 25 <= hue <= 85:
        assert (red, blue) == (1, 1)


def test_only_what_was_asked_is_fixed_and_says_for_what() -> None:
    picture = portrait(1600, 1200, 500, 500, 400, brightness=0.3)
    adjusted = adjustments(picture, frozenset({"person_centered", "image_format"}))
    assert [reason.fix for reason in adjusted.reasons] == ["crop"]
    assert adjusted.reasons[0].answers == ("person_centered",)
    assert adjusted.exposure_ev == 0
    brighter = adjustments(picture, frozenset({"person_centered", "face_brightness"}))
    assert {reason.fix for reason in brighter.reasons} == {"crop", "exposure"}
    assert brighter.exposure_ev == MAX_EV
    assert adjustments(picture, frozenset()).reasons == ()
