"""Rules on the light, the colours and the sharpness of a portrait."""

from __future__ import annotations

from palprep.rules.needs import NO_FACE, PORTRAIT, SKIN, Skin
from palprep.rules.plans.image import COLOURLESS
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.rules.sentences import ByLevel, Sentences
from palprep.vision import PortraitFacts, overall_score, quality_scores

GLOSS = 0.75
"""Brightness over peak of faces in ordinary light, at the least."""

GREY = Unmeasured(reason="The face has hardly any colour, so its hue cannot be judged.")


class ImageQuality(Rule[PortraitFacts]):
    """The face is sharp, clean, neither too dark nor burnt out, in natural colours.

    The measure is a product of scores, 0 to 100. Each score is a smooth step around its own
    limit, as in BSI's OFIQ. The raw values stand in the facts.
    """

    needs = PORTRAIT
    id = "image_quality_acceptable"
    label = "Image quality"
    predicts = "image_quality_acceptable"
    sentences = Sentences(
        "The quality of the image is {measured}.",
        **{
            "sharpness": ByLevel("The face is not sharp.", "The face is not quite sharp."),
            "face resolution": ByLevel(
                "The face has too few pixels.", "The face has rather few pixels."
            ),
            "too dark": ByLevel("The face is too dark.", "The face is rather dark."),
            "too bright": ByLevel("The face is too bright.", "The face is rather bright."),
            "burnt-out highlights": ByLevel(
                "Large parts of the face are burnt out to white.",
                "Parts of the face are burnt out to white.",
            ),
            "blocked-up shadows": ByLevel(
                "Large parts of the face are lost in black.",
                "Parts of the face are lost in black.",
            ),
            "contrast": ByLevel(
                "The face has too little contrast.", "The face has little contrast."
            ),
            "noise": ByLevel("The image is too noisy.", "The image is somewhat noisy."),
            "unnatural skin colour": ByLevel(
                "The colours of the face are too strong to be natural.",
                "The colours of the face are rather strong.",
            ),
            "JPEG blocks": ByLevel(
                "The image was compressed too much: its JPEG blocks show.",
                "The image was compressed a lot: its JPEG blocks begin to show.",
            ),
        },
    )
    advice = (
        "Retake it in soft, even light from the front, with the face in focus and no filter. "
        "palprep fix can only correct moderate exposure and white balance."
    )

    def measure(self, portrait: PortraitFacts) -> Measured:
        scores = quality_scores(portrait.quality)
        total, weakest = round(overall_score(scores)), min(scores, key=scores.__getitem__)
        return Measured(
            value=total,
            shown=f"{total} of 100 (least: {weakest})",
            way=weakest,
            region=portrait.framing.face if portrait.framing else None,
        )


class FaceBrightness(Rule[Skin]):
    """The face is neither dark nor glaring: the luma, 0 to 1, that a quarter of it exceeds. In
    enough light the eyes and the gloss of dark skin are bright as well, so that three quarters of
    the luma of its brightest hundredth count where that is more."""

    needs = SKIN
    id = "face_brightness"
    label = "Brightness of the face"
    predicts = "image_quality_acceptable"
    sentences = Sentences(
        "The brightness of the face is {measured}.",
        below=ByLevel("The face is too dark.", "The face is rather dark."),
        above=ByLevel("The face is too bright.", "The face is rather bright."),
    )
    advice = "Light the face evenly from the front. palprep fix shifts it by up to one stop."

    def measure(self, skin: Skin) -> Measured:
        quality = skin.quality
        lit = max(quality.brightness, GLOSS * quality.peak)
        return Measured(value=round(lit, 2), region=skin.region)


class SkinHue(Rule[Skin]):
    """The skin has a natural hue: neither light nor filter casts a colour on it."""

    needs = SKIN
    id = "skin_hue"
    label = "Natural skin colour"
    unit = "degrees of hue"
    predicts = "image_quality_acceptable"
    sentences = Sentences(
        "The hue of the skin is natural.",
        below="The skin has an unnatural colour: too red, or too blue.",
        above="The skin has an unnatural colour: too yellow, or too green.",
    )
    advice = "Retake it in neutral light without a filter. palprep fix corrects a moderate cast."

    def measure(self, skin: Skin) -> Measured | Unmeasured:
        hue_deg, chroma = skin.quality.skin_hue_deg, skin.quality.skin_chroma
        if hue_deg is None or chroma is None:
            return NO_FACE
        if chroma < COLOURLESS:
            return GREY
        return Measured(value=round(hue_deg), region=skin.region)
