"""The plan for an image: fixes of its file, and of the portrait by crop, turn, light and colour.

Nothing is invented. A crop only takes away. Where the pixels do not suffice the answer is None,
and :func:`framing_advice` says how to retake the image.
"""

from __future__ import annotations

import itertools
import math

from palprep.api.records import MAX_IMAGE_BASE64_CHARS
from palprep.facts import Facts
from palprep.rules.image import image_memory
from palprep.rules.plans.values import Crop, ImagePlan, Reason, not_passed, reasons_for
from palprep.rules.profile import Profile
from palprep.rules.report import Report
from palprep.rules.texts.words import TEXTS
from palprep.values import Outcome, Role
from palprep.vision import Framing, PortraitFacts

SHARES = (0.36, 0.32, 0.28, 0.25, 0.22, 0.42, 0.5)
"""Face heights over crop height that a crop aims at, best first: chest up, between 0.22 and 0.6.
Tight ones come last, for turned images with little room at the corners."""

FACE_SHARE = SHARES[0]

LARGEST_SHARE = 0.6
"""No crop makes the face higher than this share of it."""

WIDEST, NARROWEST = 16 / 9, 3 / 4
"""Width over height between which a crop stays."""

HEADROOM = (0.35, 0.2, 0.1)
"""Room above the head in a crop, in face heights, best first; the least is for crops that are
turned, whose corners need room as well."""

SIDE_ROOM = 0.25
"""Least room on either side of the face, in face widths."""

MIN_SIDE_PX = 512
"""No crop is made smaller than this (public guidance for avatar footage)."""

LEVEL_FROM_DEG, LEVEL_TO_DEG = 3.0, 20.0
"""A lean below the first is natural; a turn beyond the second would tilt the shoulders visibly."""

BRIGHTNESS = 0.62
"""The brightness that exposure aims at: luma that a quarter of a well-lit face exceeds."""

MAX_EV = 1.0
"""Stops; more shows noise and banding."""

CLIPPED = 0.02
"""Share of burnt-out pixels of a face beyond which it is not darkened, nor its colour trusted."""

WHITE_SHARE = 0.005
"""Share of white beyond which no colour is corrected."""

COLOURLESS = 4.0
"""CIELAB chroma below which a hue says nothing."""

MAX_GAIN = 1.25
"""No channel is raised or lowered by more than this factor against green."""

_FILE_FIXES = {
    "convert": ("image_format", "image_training_format"),
    "orient": ("image_upright",),
    "to_srgb": ("image_srgb",),
    "flatten": ("image_alpha",),
    "first_frame": ("image_frames",),
    "scale_down": ("image_long_side",),
    "fit_base64": ("image_base64_length",),
    "strip_metadata": ("image_metadata",),
}
_PORTRAIT_FIXES = {
    "turn": ("turned_deg", ("head_level",)),
    "level": ("level_deg", ("head_level",)),
    "crop": ("crop", ("chest_up_framing_acceptable", "person_centered")),
    "exposure": ("exposure_ev", ("face_brightness",)),
    "white_balance": ("white_balance", ("skin_hue",)),
}
"""By fix: the field of the plan, and the checks that it answers."""

_UNCHANGED = ImagePlan(reasons=(), max_base64_chars=MAX_IMAGE_BASE64_CHARS)


def plan_image(report: Report, facts: Facts, profile: Profile) -> ImagePlan | None:
    """The fixes that the checks of the file and of the portrait ask for; None where none does."""
    adjusted = _UNCHANGED
    if facts.portrait is not None:
        adjusted = adjustments(facts.portrait, not_passed(report))
    reasons = (*reasons_for(report, _FILE_FIXES), *adjusted.reasons)
    if facts.image is None or not reasons:
        return None
    limits = {
        "max_base64_chars": _maximum(profile, "image_base64_length") or adjusted.max_base64_chars,
        "max_side_px": _maximum(profile, "image_long_side"),
        "max_memory_mb": profile.tightest_maximum(Role.FACE_IMAGE, image_memory.id, Outcome.FAIL),
    }
    png = facts.image.format == "png"
    return adjusted.model_copy(update={"reasons": reasons, "png": png, **limits})


def _maximum(profile: Profile, rule_id: str) -> int | None:
    maximum = profile.tightest_maximum(Role.FACE_IMAGE, rule_id)
    return None if maximum is None else int(maximum)


def propose_crop(
    portrait: PortraitFacts, *, level_deg: float = 0.0, min_side_px: int = MIN_SIDE_PX
) -> Crop | None:
    """A crop that puts the face in the middle, chest up, with the whole head inside.

    ``level_deg`` turns the image counter-clockwise about the crop's centre first. None without
    a face, and with several: no one knows who is meant. None as well where no such crop of
    ``min_side_px`` exists, or where it would be the whole image.
    """
    framing = portrait.framing
    if framing is None or framing.margin < 0 or portrait.people > 1:
        return None
    shapes = (portrait.width / portrait.height, NARROWEST)
    for height, headroom, shape in itertools.product(_heights(portrait, framing), HEADROOM, shapes):
        top = max(
            0.0, min(framing.head.y - headroom * framing.face.height, portrait.height - height)
        )
        width = max(height * shape, min_side_px)
        crop = _place(portrait, framing, (top, height, width), level_deg)
        if (
            crop is not None
            and min(crop.width, crop.height) >= min_side_px
            and crop.lies_within(portrait.width, portrait.height, level_deg=level_deg)
        ):
            whole = crop.width >= portrait.width - 2 and crop.height >= portrait.height - 2
            return None if whole and not level_deg else crop
    return None


def _heights(portrait: PortraitFacts, framing: Framing) -> list[float]:
    """Heights to try, best first: those that bring a small face to chest-up size, or slowly
    less of an image whose face is large enough."""
    face = framing.face.height
    if framing.face_height_share < FACE_SHARE:
        return [min(face / share, portrait.height) for share in SHARES]
    tall = [portrait.height * 0.96**step for step in range(12)]
    return [height for height in tall if face / height <= LARGEST_SHARE]


def _place(
    portrait: PortraitFacts, framing: Framing, wanted: tuple[float, float, float], level_deg: float
) -> Crop | None:
    """A crop of about that top, height and width, its face in the middle; None without room."""
    face, (top, height, width) = framing.face, wanted
    # The turn is about the crop's centre and carries the face sideways: the centre is moved
    # so that the turned face stands in the middle.
    above = top + height / 2 - (face.y + face.height / 2)
    centre = face.x + face.width / 2 + above * math.tan(math.radians(level_deg))
    room = 2 * min(centre, portrait.width - centre)
    least = face.width * (1 + 2 * SIDE_ROOM)
    width = min(room, max(width, height * NARROWEST, least), height * WIDEST)
    # Too close to one side for its height: a lower crop keeps the proportions.
    height = min(height, width / NARROWEST)
    fits = width >= least and face.height / height <= LARGEST_SHARE
    if not fits or top + height < face.y + 1.3 * face.height:
        return None
    return Crop(
        left=math.ceil(centre - width / 2),
        top=math.floor(top),
        width=max(1, math.floor(width) - 1),
        height=max(1, math.floor(height)),
    )


def propose_level(portrait: PortraitFacts) -> float:
    """Degrees to turn counter-clockwise so that the head stands upright; 0 for none."""
    roll = portrait.subject.pose.roll_deg if portrait.subject else 0.0
    return -round(roll, 1) if LEVEL_FROM_DEG <= abs(roll) <= LEVEL_TO_DEG else 0.0


def propose_exposure(portrait: PortraitFacts) -> float:
    """Stops that bring the face to ordinary brightness, within one stop: the slope at black of the
    curve of :class:`~palprep.rules.plans.values.ImagePlan`, under which white stays white.

    Darkening stops where highlights are burnt out: what is clipped stays clipped.
    """
    quality = portrait.quality
    if portrait.framing is None or quality.brightness <= 0:
        return 0.0
    wanted, light = BRIGHTNESS**2.2, min(quality.brightness, 0.99) ** 2.2
    stops = math.log2(wanted * (1 - light) / (light * (1 - wanted)))
    if stops < 0 and quality.clipped_highlights > CLIPPED:
        return 0.0
    return round(max(-MAX_EV, min(MAX_EV, stops)), 2)


def propose_white_balance(portrait: PortraitFacts) -> tuple[float, float, float]:
    """Gains of R, G and B in linear light that bring the hue of the skin to the nearest natural
    one, green unchanged. All 1 where it is natural, colourless, burnt out or not known, and where
    the picture holds white: then the light has no cast, and white would get one.
    """
    quality = portrait.quality
    misled = quality.clipped_highlights > CLIPPED or quality.white > WHITE_SHARE
    if quality.skin_gains is None or (quality.skin_chroma or 0.0) < COLOURLESS or misled:
        return 1.0, 1.0, 1.0
    red, green, blue = quality.skin_gains
    return _gain(red / green), 1.0, _gain(blue / green)


def _gain(ratio: float) -> float:
    return round(max(1 / MAX_GAIN, min(MAX_GAIN, ratio)), 3)


def adjustments(portrait: PortraitFacts, asking: frozenset[str]) -> ImagePlan:
    """The adjustments that answer the checks in ``asking``, and why each is made."""
    asked = {fix for fix, (_, checks) in _PORTRAIT_FIXES.items() if asking.intersection(checks)}
    level = propose_level(portrait) if "level" in asked else 0.0
    crop = propose_crop(portrait, level_deg=level) if level or "crop" in asked else None
    if level and crop is None:
        # There is no room to turn without empty corners; the crop alone may still help.
        level = 0.0
        crop = propose_crop(portrait) if "crop" in asked else None
    steps = {
        # Whether asked for or not: all places are those of the turned image.
        "turned_deg": portrait.subject.turned_deg if portrait.subject else 0,
        "level_deg": level,
        "crop": crop,
        **({"exposure_ev": propose_exposure(portrait)} if "exposure" in asked else {}),
        **({"white_balance": propose_white_balance(portrait)} if "white_balance" in asked else {}),
    }
    made = _UNCHANGED.model_copy(update=steps)
    reasons = tuple(
        Reason(fix=fix, answers=tuple(each for each in checks if each in asking))
        for fix, (step, checks) in _PORTRAIT_FIXES.items()
        if getattr(made, step) != getattr(_UNCHANGED, step)
    )
    return made.model_copy(update={"reasons": reasons})


def adjusts(facts: Facts, check: str) -> bool:
    """Whether the fix of this file changes the picture because of that check."""
    if facts.image is None or facts.portrait is None:
        return False
    made = adjustments(facts.portrait, frozenset({check}))
    return any(check in reason.answers for reason in made.reasons)


def framing_advice(portrait: PortraitFacts, framing: Framing) -> str:
    """What to do about centring or framing: the crop that ``palprep fix`` makes, or the retake."""
    crop = propose_crop(portrait)
    if crop is not None:
        return _advice("crop", width=crop.width, height=crop.height)
    if portrait.people > 1:
        return _advice("several_people")
    if framing.margin < 0:
        return _advice("cut")
    if framing.face_height_share > LARGEST_SHARE:
        return _advice("too_close", times=f"{framing.face_height_share / FACE_SHARE:.1f}")
    small = propose_crop(portrait, min_side_px=1)
    if small is not None:
        return _advice("too_small", width=small.width, height=small.height, least=MIN_SIDE_PX)
    return _advice("too_far_right" if framing.centre_x > 0.5 else "too_far_left")


def _advice(key: str, **words: object) -> str:
    return TEXTS.framing_advice[key].format(**words)
