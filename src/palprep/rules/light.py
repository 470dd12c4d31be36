"""Rules on the light, the colours and the sharpness of a portrait."""

from __future__ import annotations

from palprep.rules.picture import NO_FACE, PortraitRule, SkinRule, region_of
from palprep.rules.plans.image import COLOURLESS
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.values import Rect
from palprep.vision.facts import PortraitFacts, Quality
from palprep.vision.scores import overall_score, quality_scores


class ImageQuality(PortraitRule):
    """The face is sharp, evenly lit, neither too dark nor burnt out, in natural colours.

    The measure is the product of several component scores, each a smooth step around its own
    limit as in BSI's OFIQ, on a scale of 0 to 100; the raw values stand in the facts.
    """

    id = "image_quality_acceptable"
    label = "Picture quality"
    predicts = "image_quality_acceptable"
    advice = (
        "Retake it in soft, even light from the front, with the face in focus and no filter; "
        "palprep fix can only mend moderate exposure and white balance."
    )

    def measure_portrait(self, picture: PortraitFacts) -> Measured:
        scores = quality_scores(picture.quality)
        total, weakest = round(overall_score(scores)), min(scores, key=scores.__getitem__)
        return Measured(
            value=total,
            shown=f"{total} of 100 (least: {weakest})",
            region=region_of(picture.framing.face) if picture.framing else None,
        )


class FaceBrightness(SkinRule):
    """The face is neither dark nor glaring: luma that a quarter of it exceeds, 0 to 1."""

    id = "face_brightness"
    label = "Brightness of the face"
    predicts = "image_quality_acceptable"
    advice = "Light the face evenly from the front; palprep fix shifts it by up to one stop."

    def measure_skin(self, quality: Quality, region: Rect) -> Measured:
        return Measured(value=round(quality.brightness, 2), region=region)


class SkinColour(SkinRule):
    """The skin has a natural hue, so that neither light nor filter casts a colour on it."""

    id = "skin_colour"
    label = "Natural skin colour"
    unit = "degrees of hue"
    predicts = "image_quality_acceptable"
    advice = "Retake it in neutral light without filter; palprep fix mends a moderate cast."

    def measure_skin(self, quality: Quality, region: Rect) -> Measured | Unmeasured:
        if quality.skin_hue_deg is None or quality.skin_chroma is None:
            return NO_FACE
        if quality.skin_chroma < COLOURLESS:
            return Unmeasured(reason="The face has hardly any colour.")
        return Measured(value=round(quality.skin_hue_deg), region=region)


LIGHT_RULES: tuple[type[Rule], ...] = (ImageQuality, FaceBrightness, SkinColour)
