"""Rules on who is seen in a portrait: how many people, and how old they look."""

from __future__ import annotations

from palprep.rules.needs import BARELY_VISIBLE, HIDDEN, NO_FACE, PORTRAIT
from palprep.rules.portrait_subject import NO_PERSON
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.rules.sentences import ByLevel, Sentences
from palprep.vision import PortraitFacts, counts_as_person, may_be_person

DOUBTED_FACE = 0.92
"""Sureness of the detector below which such a face is not counted as a person."""

BACKED = 0.2
"""Likelihood of somebody else from which a doubted face is taken for one. Prints on shirts and
leaves look like faces to the detector; nothing else speaks for a person there."""

ADULT = 0.5
"""Likelihood of an adult from which a covered face may be one."""


class OnlyOnePerson(Rule[PortraitFacts]):
    """Exactly one person is visible. Faces less than a quarter as high as the largest one are
    passers-by; what is clearly no person does not count.

    Somebody of whom no whole face is seen, only the back of a head or a shoulder, counts by how
    likely it is that one is there. So does a face that is not certain, because the border cuts it:
    by how sure it is, and half of that where nothing else speaks for a person. So 1.4 is one
    person, and a doubt about another.
    """

    needs = PORTRAIT
    id = "only_one_person_visible"
    label = "One person"
    unit = "people"
    predicts = "only_one_person_visible"
    sentences = Sentences(
        "One person is visible.",
        several="{measured} people are visible.",
        face=ByLevel(
            fail="Another face is visible, in part or not clearly.",
            warn="Another face may be visible.",
        ),
        beside=ByLevel(
            fail="Part of somebody else is visible next to the person.",
            warn="Somebody else may be visible next to the person.",
        ),
        nobody="Something like a face is visible, but no person.",
    )
    advice = "Retake it alone, in front of a background without people or pictures of people."

    def measure(self, portrait: PortraitFacts) -> Measured:
        faces = [face for face in portrait.faces if counts_as_person(face, portrait.faces[0])]
        people = len(faces) - (1 if _no_person(portrait) else 0)
        if people == 1:
            return self._alone(portrait)
        return Measured(
            value=people,
            way="several" if people > 1 else "nobody",
            region=faces[1].box if len(faces) > 1 else None,
            cause=None if faces else NO_FACE,
        )

    def _alone(self, portrait: PortraitFacts) -> Measured:
        """One person, and what speaks for another."""
        others = portrait.others
        doubted = [face for face in portrait.faces if may_be_person(face, portrait.faces[0])]
        face = max(doubted, key=lambda face: face.score, default=None)
        likely, way = others or 0.0, "beside"
        if face is not None:
            backed = others is None or others >= BACKED
            sure = face.score if backed else face.score / 2
            likely, way = max((likely, way), (sure, "face"))
        return Measured(
            value=round(1 + likely, 2),
            shown=f"1, and another {likely:.0%} likely",
            way=way,
            region=face.box if face is not None and way == "face" else None,
        )


class AppearsUnder18(Rule[PortraitFacts]):
    """Everybody in the image looks grown up: the likelihood that the one who looks youngest is 18
    or older.

    Faces of 16 and of 20 look much alike, so adults who look young are asked about. A covered face
    shows no age: it is judged only where even the visible part looks younger than 18.
    """

    needs = PORTRAIT
    id = "appears_under_18"
    label = "Looks 18 or older"
    predicts = "appears_under_18"
    sentences = Sentences(
        "The person looks 18 or older.",
        below=ByLevel(
            fail="The person looks younger than 18.",
            warn="The person may be younger than 18.",
        ),
        youngest=ByLevel(
            fail="One of the people looks younger than 18.",
            warn="One of the people may be younger than 18.",
        ),
    )
    advice = (
        "The service refuses images of minors. For an adult, retake it in even light from the "
        "front, with a neutral expression and nothing covering the face."
    )

    def measure(self, portrait: PortraitFacts) -> Measured | Unmeasured:
        found = self._largest_face(portrait)
        others = [(face.adult, face) for face in portrait.faces if face.adult is not None]
        if not others:
            return found
        adult, youngest = min(others, key=lambda other: other[0])
        judged = portrait.subject if isinstance(found, Measured) else None
        if adult >= (judged.adult if judged else ADULT):
            return found
        return Measured(
            value=round(adult, 3),
            shown=f"{adult:.0%} likely of the youngest of several people",
            way="youngest",
            region=youngest.box,
        )

    def _largest_face(self, portrait: PortraitFacts) -> Measured | Unmeasured:
        subject = portrait.subject
        if portrait.framing is None:
            return NO_FACE
        if subject is None:
            return HIDDEN
        if subject.visibility.whole < BARELY_VISIBLE and subject.adult >= ADULT:
            return HIDDEN
        return Measured(
            value=round(subject.adult, 3),
            shown=f"{subject.adult:.0%} likely, apparent age {subject.age_years:.0f}",
            region=portrait.framing.face,
        )


def _no_person(portrait: PortraitFacts) -> bool:
    subject = portrait.subject
    return (
        subject is not None
        and subject.human.likelihood < NO_PERSON
        and max((face.score for face in portrait.faces), default=0.0) < DOUBTED_FACE
    )
