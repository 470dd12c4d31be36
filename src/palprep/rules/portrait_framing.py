"""Rules on where the head and the body stand in a portrait."""

from __future__ import annotations

from palprep.rules.needs import FRAMED, Framed
from palprep.rules.plans.image import framing_advice
from palprep.rules.rule import Measured, Rule
from palprep.rules.sentences import ByLevel, Sentences


class PersonCentered(Rule[Framed]):
    """The face is near the middle between the left and the right border."""

    needs = FRAMED
    id = "person_centered"
    label = "Person in the middle"
    unit = "of the width"
    predicts = "person_centered"
    sentences = Sentences(
        "The face is near the middle.",
        left="The face is too far to the left: {share} of the width from the middle.",
        right="The face is too far to the right: {share} of the width from the middle.",
    )
    advice = "Move the face to the middle. palprep fix crops where the image is wide enough."

    def measure(self, framed: Framed) -> Measured:
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


class HeadFullyInFrame(Rule[Framed]):
    """The whole head with its hair is inside the image.

    The measure is the smallest distance from head to border in face heights (hairline to
    chin), negative when something is cut.
    """

    needs = FRAMED
    id = "head_fully_in_frame"
    label = "Whole head in the image"
    unit = "face heights"
    predicts = "head_fully_in_frame"
    sentences = Sentences(
        "The whole head is in view.",
        cut_top=ByLevel(
            fail="The head is cut by the upper border.",
            warn="The hair may be cut by the upper border.",
        ),
        cut_side=ByLevel(
            fail="The head is cut by the left or the right border.",
            warn="The hair may be cut by the left or the right border.",
        ),
        cut_bottom=ByLevel(
            fail="The face is cut by the lower border.",
            warn="The chin touches the lower border.",
        ),
        near_top="The head is too near to the upper border.",
        near_side="The head is too near to the left or the right border.",
        near_bottom="The chin is too near to the lower border.",
    )
    advice = (
        "Step back, or tilt the camera up. The whole head and its hair need some room, which no "
        "crop can add."
    )

    def measure(self, framed: Framed) -> Measured:
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


class ChestUpFraming(Rule[Framed]):
    """The image spans head, shoulders and chest: the face, from hairline to chin, takes about a
    third of its height. More is a face alone, less is half a body or all of it."""

    needs = FRAMED
    id = "chest_up_framing_acceptable"
    label = "Framed from the chest up"
    unit = "of the height"
    predicts = "chest_up_framing_acceptable"
    sentences = Sentences(
        "The face takes {share} of the image's height.",
        below=ByLevel(
            fail="The face is too small: it takes {share} of the image's height.",
            warn="The face is rather small: it takes {share} of the image's height.",
        ),
        above=ByLevel(
            fail="The face fills the image: it takes {share} of its height.",
            warn="The face nearly fills the image: it takes {share} of its height.",
        ),
    )
    advice = (
        "Frame it from the chest up. palprep fix crops an image that shows too much. One that "
        "shows too little needs a retake from further away."
    )

    def measure(self, framed: Framed) -> Measured:
        share = framed.framing.face_height_share
        return Measured(
            value=round(share, 3),
            shown=f"face {share:.0%} of the height",
            words={"share": f"{share:.0%}"},
            advice=framing_advice(framed.portrait),
            region=framed.framing.face,
        )


class ShouldersVisible(Rule[Framed]):
    """Shoulders and upper chest are seen: how far the person reaches below the chin."""

    needs = FRAMED
    id = "shoulders_visible"
    label = "Shoulders and chest"
    unit = "face heights below the chin"
    predicts = "chest_up_framing_acceptable"
    sentences = Sentences(
        "The image reaches {measured} face heights below the chin.",
        below="Shoulders and chest are hardly in the image.",
        above="The image shows too much below the shoulders.",
    )
    advice = "Retake it from further away, or lower. Show the shoulders and the upper chest."

    def measure(self, framed: Framed) -> Measured:
        framing = framed.framing
        return Measured(value=round(framing.body_below, 2), region=framing.face)
