"""Rules on where the head and the body stand in a portrait."""

from __future__ import annotations

from palprep.rules.picture import FramingRule, region_of
from palprep.rules.rule import Measured, Rule
from palprep.vision.facts import Framing


class PersonCentered(FramingRule):
    """The face is near the middle between the left and the right border."""

    id = "person_centered"
    label = "Person in the middle"
    unit = "of the width"
    predicts = "person_centered"
    crops = True
    advice = "Move the face to the middle; palprep fix crops where the picture is wide enough."

    def measure_framing(self, framing: Framing) -> Measured:
        offset = framing.centre_x - 0.5
        side = "right" if offset > 0 else "left"
        return Measured(
            value=round(abs(offset), 3),
            shown=f"{abs(offset):.0%} of the width to the {side}",
            region=region_of(framing.face),
        )


class HeadFullyInFrame(FramingRule):
    """The whole head with its hair is inside of the picture.

    The measure is the smallest distance from head to border in face heights (hairline to
    chin), negative when something is cut.
    """

    id = "head_fully_in_frame"
    label = "Whole head in the picture"
    unit = "face heights"
    predicts = "head_fully_in_frame"
    advice = (
        "Step back or tilt the camera up: the whole head and hair need some room, and no crop "
        "can add it."
    )

    def measure_framing(self, framing: Framing) -> Measured:
        margin = framing.margin
        shown = f"{margin:.2f} face heights of room" if margin >= 0 else "cut by the border"
        return Measured(value=round(margin, 3), shown=shown, region=region_of(framing.head))


class ChestUpFraming(FramingRule):
    """The picture spans head, shoulders and chest: the face, from hairline to chin, takes
    about a third of its height. More is a face alone, less is half a body or all of it.
    """

    id = "chest_up_framing_acceptable"
    label = "Framed from the chest up"
    unit = "of the height"
    predicts = "chest_up_framing_acceptable"
    crops = True
    advice = (
        "Frame it from the chest up. palprep fix crops a picture that shows too much; one that "
        "shows too little needs a retake from further away."
    )

    def measure_framing(self, framing: Framing) -> Measured:
        return Measured(
            value=round(framing.face_height_share, 3),
            shown=f"face {framing.face_height_share:.0%} of the height",
            region=region_of(framing.face),
        )


class ShouldersVisible(FramingRule):
    """Shoulders and upper chest are seen: how far the person reaches below the chin."""

    id = "shoulders_visible"
    label = "Shoulders and chest"
    unit = "face heights below the chin"
    predicts = "chest_up_framing_acceptable"
    advice = "Retake it from further away, or lower: shoulders and upper chest belong in it."

    def measure_framing(self, framing: Framing) -> Measured:
        return Measured(value=round(framing.body_below, 2), region=region_of(framing.face))


FRAMING_RULES: tuple[type[Rule], ...] = (
    PersonCentered,
    HeadFullyInFrame,
    ChestUpFraming,
    ShouldersVisible,
)
