"""Rules on where the head and the body stand in a portrait."""

from __future__ import annotations

from palprep.rules.needs import FRAMED, Framed
from palprep.rules.plans.image import framing_advice
from palprep.rules.rule import Measured, Rule


class PersonCentered(Rule[Framed]):
    """The face is near the middle between the left and the right border."""

    needs = FRAMED
    id = "person_centered"
    label = "Person in the middle"
    unit = "of the width"
    predicts = "person_centered"
    advice = "Move the face to the middle; palprep fix crops where the image is wide enough."

    def measure(self, framed: Framed) -> Measured:
        offset = framed.framing.centre_x - 0.5
        side = "right" if offset > 0 else "left"
        return Measured(
            value=round(abs(offset), 3),
            shown=f"{abs(offset):.0%} of the width to the {side}",
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
    advice = (
        "Step back or tilt the camera up: the whole head and hair need some room, and no crop "
        "can add it."
    )

    def measure(self, framed: Framed) -> Measured:
        margin = framed.framing.margin
        shown = f"{margin:.2f} face heights of room" if margin >= 0 else "cut by the border"
        return Measured(value=round(margin, 3), shown=shown, region=framed.framing.head)


class ChestUpFraming(Rule[Framed]):
    """The image spans head, shoulders and chest: the face, from hairline to chin, takes about a
    third of its height. More is a face alone, less is half a body or all of it."""

    needs = FRAMED
    id = "chest_up_framing_acceptable"
    label = "Framed from the chest up"
    unit = "of the height"
    predicts = "chest_up_framing_acceptable"
    advice = (
        "Frame it from the chest up. palprep fix crops an image that shows too much; one that "
        "shows too little needs a retake from further away."
    )

    def measure(self, framed: Framed) -> Measured:
        share = framed.framing.face_height_share
        return Measured(
            value=round(share, 3),
            shown=f"face {share:.0%} of the height",
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
    advice = "Retake it from further away, or lower: show the shoulders and the upper chest."

    def measure(self, framed: Framed) -> Measured:
        framing = framed.framing
        return Measured(value=round(framing.body_below, 2), region=framing.face)
