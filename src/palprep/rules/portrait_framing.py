"""Rules on how a portrait was taken: where head and body stand in it, light, colour, sharpness."""

from __future__ import annotations

from palprep.rules.needs import FRAMED, NO_FACE, PORTRAIT, SKIN, Framed, Skin
from palprep.rules.plans.image import COLOURLESS, framing_advice
from palprep.rules.rule import Measured, rule
from palprep.rules.texts import REASONS, Unmeasured
from palprep.vision import PortraitFacts, overall_score, quality_scores

GLOSS = 0.75
"""Brightness over peak of faces in ordinary light, at the least."""


@rule(FRAMED)
def person_centered(framed: Framed) -> Measured:
    offset = framed.framing.centre_x - 0.5
    side = "right" if offset > 0 else "left"
    return Measured(
        value=round(abs(offset), 3),
        shown=f"{abs(offset):.0%} of the width to the {side}",
        way=side,
        words={"share": f"{abs(offset):.0%}"},
        advice=framing_advice(framed.portrait),
        region=framed.framing.face,
    )


@rule(FRAMED)
def head_fully_in_frame(framed: Framed) -> Measured:
    """The smallest distance from head to border in face heights (hairline to chin), negative when
    something is cut.
    """
    framing = framed.framing
    margins = {
        "top": framing.margin_top,
        "side": framing.margin_side,
        "bottom": framing.margin_bottom,
    }
    nearest, margin = min(margins.items(), key=lambda each: each[1])
    return Measured(
        value=round(margin, 3),
        shown=f"{margin:.2f} face heights of room" if margin >= 0 else "cut by the border",
        way=f"near_{nearest}" if margin >= 0 else f"cut_{nearest}",
        region=framing.head,
    )


@rule(FRAMED)
def chest_up_framing_acceptable(framed: Framed) -> Measured:
    share = framed.framing.face_height_share
    return Measured(
        value=round(share, 3),
        shown=f"face {share:.0%} of the height",
        words={"share": f"{share:.0%}"},
        advice=framing_advice(framed.portrait),
        region=framed.framing.face,
    )


@rule(FRAMED)
def shoulders_visible(framed: Framed) -> Measured:
    framing = framed.framing
    return Measured(value=round(framing.body_below, 2), region=framing.face)


@rule(PORTRAIT)
def image_quality_acceptable(portrait: PortraitFacts) -> Measured:
    """A product of scores, 0 to 100. Each is a smooth step around its own limit, as in OFIQ."""
    scores = quality_scores(portrait.quality)
    total, weakest = round(overall_score(scores)), min(scores, key=scores.__getitem__)
    return Measured(
        value=total,
        shown=f"{total} of 100 (least: {weakest})",
        way=weakest,
        region=portrait.framing.face if portrait.framing else None,
    )


@rule(SKIN)
def face_brightness(skin: Skin) -> Measured:
    """The luma, 0 to 1, that a quarter of the face exceeds, or :data:`GLOSS` times that of its
    brightest hundredth: in enough light the eyes and the gloss of dark skin are bright as well.
    """
    quality = skin.quality
    lit = max(quality.brightness, GLOSS * quality.peak)
    return Measured(value=round(lit, 2), region=skin.region)


@rule(SKIN)
def skin_hue(skin: Skin) -> Measured | Unmeasured:
    hue_deg, chroma = skin.quality.skin_hue_deg, skin.quality.skin_chroma
    if hue_deg is None or chroma is None:
        return NO_FACE
    if chroma < COLOURLESS:
        return REASONS["grey"]
    return Measured(value=round(hue_deg), region=skin.region)
