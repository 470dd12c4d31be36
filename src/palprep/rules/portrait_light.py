"""Rules on the light, the colours and the sharpness of a portrait."""

from __future__ import annotations

from palprep.rules.needs import NO_FACE, PORTRAIT, SKIN, Skin
from palprep.rules.plans.image import COLOURLESS
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.vision.facts import PortraitFacts
from palprep.vision.scores import overall_score, quality_scores


class ImageQuality(Rule[PortraitFacts]):
    """The face is sharp, evenly lit, neither too dark nor burnt out, in natural colours.

    The measure is a product of scores, 0 to 100. Each score is a smooth step around its own
    limit, as in BSI's OFIQ. The raw values stand in the facts.
    """

    needs = PORTRAIT
    id = "image_quality_acceptable"
    label = "Image quality"
    predicts = "image_quality_acceptable"
    advice = (
        "Retake it in soft, even light from the front, with the face in focus and no filter; "
        "palprep fix can only correct moderate exposure and white balance."
    )

    def measure(self, portrait: PortraitFacts) -> Measured:
        scores = quality_scores(portrait.quality)
        total, weakest = round(overall_score(scores)), min(scores, key=scores.__getitem__)
        return Measured(
            value=total,
            shown=f"{total} of 100 (least: {weakest})",
            region=portrait.framing.face if portrait.framing else None,
        )


class FaceBrightness(Rule[Skin]):
    """The face is neither dark nor glaring. A quarter of it is brighter than the measure: luma,
    0 to 1."""

    needs = SKIN
    id = "face_brightness"
    label = "Brightness of the face"
    predicts = "image_quality_acceptable"
    advice = "Light the face evenly from the front; palprep fix shifts it by up to one stop."

    def measure(self, skin: Skin) -> Measured:
        return Measured(value=round(skin.quality.brightness, 2), region=skin.region)


class SkinHue(Rule[Skin]):
    """The skin has a natural hue: neither light nor filter casts a colour on it."""

    needs = SKIN
    id = "skin_hue"
    label = "Natural skin colour"
    unit = "degrees of hue"
    predicts = "image_quality_acceptable"
    advice = "Retake it in neutral light without filter; palprep fix corrects a moderate cast."

    def measure(self, skin: Skin) -> Measured | Unmeasured:
        hue_deg, chroma = skin.quality.skin_hue_deg, skin.quality.skin_chroma
        if hue_deg is None or chroma is None:
            return NO_FACE
        if chroma < COLOURLESS:
            return Unmeasured(reason="The face has hardly any colour.")
        return Measured(value=round(hue_deg), region=skin.region)
