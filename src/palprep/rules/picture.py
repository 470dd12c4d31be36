"""What the rules about a portrait have in common: what they need, and what they say without it."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from palprep.facts.facts import Facts
from palprep.rules.plans.image import framing_advice
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.values import Rect
from palprep.vision.facts import Framing, PortraitFacts, Quality, SubjectFacts

BARELY_VISIBLE = 0.5
"""A face less visible than this is not asked for its age or colour, nor whether it is
photographed."""

NO_FACE = Unmeasured(reason="No face was found, so there is nothing to measure.")


class PortraitRule(Rule):
    """A rule that needs what was seen in the picture."""

    def measure(self, facts: Facts) -> Measured | Unmeasured | None:
        if facts.portrait is None:
            return Unmeasured(reason="The picture was not looked at.") if facts.image else None
        return self.measure_portrait(facts.portrait)

    @abstractmethod
    def measure_portrait(self, picture: PortraitFacts) -> Measured | Unmeasured:
        """The measure of a picture."""


class FramingRule(PortraitRule):
    """A rule about where the largest face stands; unknown where there is none."""

    crops: ClassVar[bool] = False
    """Whether a crop may mend it; the advice then says which, or why none does."""

    def measure_portrait(self, picture: PortraitFacts) -> Measured | Unmeasured:
        if picture.framing is None:
            return NO_FACE
        found = self.measure_framing(picture.framing)
        return found.model_copy(update={"advice": framing_advice(picture)}) if self.crops else found

    @abstractmethod
    def measure_framing(self, framing: Framing) -> Measured:
        """The measure of the framing."""


class SkinRule(PortraitRule):
    """A rule about the look of the skin; unknown where it is covered."""

    def measure_portrait(self, picture: PortraitFacts) -> Measured | Unmeasured:
        if picture.framing is None:
            return NO_FACE
        if picture.subject is None or picture.subject.visibility.least < BARELY_VISIBLE:
            return Unmeasured(reason="The face is covered, so its skin cannot be judged.")
        return self.measure_skin(picture.quality, region_of(picture.framing.face))

    @abstractmethod
    def measure_skin(self, quality: Quality, region: Rect) -> Measured | Unmeasured:
        """The measure of a face that is bare."""


class SubjectRule(PortraitRule):
    """A rule about the points of the largest face."""

    def measure_portrait(self, picture: PortraitFacts) -> Measured | Unmeasured:
        if picture.framing is None:
            return self.measure_faceless(picture)
        region = region_of(picture.framing.face)
        if picture.subject is None:
            return self.measure_hidden(region)
        return self.measure_subject(picture.subject, region)

    @abstractmethod
    def measure_subject(self, subject: SubjectFacts, region: Rect) -> Measured | Unmeasured:
        """The measure of a face."""

    def measure_faceless(self, picture: PortraitFacts) -> Measured | Unmeasured:  # noqa: ARG002
        """For a picture in which no face was found."""
        return NO_FACE

    def measure_hidden(self, region: Rect) -> Measured | Unmeasured:  # noqa: ARG002
        """For a face that is certainly there and cannot be made out."""
        return Unmeasured(reason="The face is covered or turned away too far to tell: retake it.")


def region_of(box: Rect) -> Rect:
    """A box of the facts as a report shows it."""
    return Rect(x=box.x, y=box.y, width=box.width, height=box.height)
