"""Rules of a portrait: the checks of the service's face image validation, predicted from what it
shows, and how it was taken: where head and body stand in it, light, colour, sharpness.

Ids are the service's own, so that local and remote verdicts join. Some of the service's ids
name a problem (``appears_under_18``); here ``pass`` always means that all is well.
"""

from __future__ import annotations

from palprep import vision
from palprep.rules import needs
from palprep.rules.plans.image import COLOURLESS, FACE_SHARE, NARROWEST, adjusts, framing_advice
from palprep.rules.rule import Measured, Need, Rule, plain, rule
from palprep.rules.texts.words import REASONS, Unmeasured, degrees, likely

NO_PERSON = 0.05
"""Likelihood of a photographed person below which a face can be that of an animal or a thing."""

UNDECIDED_COVERED = (0.02, 0.1)
"""Likelihoods of a photographed person between which a covered face gets no verdict: less of it is
seen. Few people with masks are below."""

AWAY = 90.0
"""Degrees off, for a face that is hidden, turned from the camera, or not found at all."""

SHUT, NEARLY_SHUT = 0.35, 0.43
"""Openness below which eyes are shut or look down, and below which they may be. Coding a picture
anew moves it by up to 0.04 (docs/accuracy.md)."""

PERHAPS_AWAY = 7.0
"""Degrees off that eyes which may be shut count as: enough for a doubt, too few for a fault."""

DOUBTED_FACE = 0.92
"""Sureness of the detector below which a face under :data:`NO_PERSON` is not counted."""

BACKED = 0.2
"""Likelihood of somebody else from which a doubted face is taken for one. Prints on shirts and
leaves look like faces to the detector; nothing else speaks for a person there."""

ADULT = 0.5
"""Likelihood of an adult from which a covered face may be one."""

GLOSS = 0.75
"""The least ratio of brightness to peak, of faces in ordinary light."""

_FACELESS = Measured(value=AWAY, shown="no face was found", cause=needs.NO_FACE)
FACING = needs.face_or(
    nobody=_FACELESS,
    somebody=_FACELESS,
    hidden=Measured(value=AWAY, shown="covered, or turned away too far", cause=needs.HIDDEN),
)
"""A face that cannot be seen points away from the camera."""


@rule(
    needs.face_or(
        nobody=Measured(value=0.0, shown="no face was found", cause=needs.NO_FACE),
        somebody=needs.NO_FACE,
        hidden=needs.HIDDEN,
    ),
    needs.face_place,
)
def human_like_subject(face: vision.SubjectFacts) -> Measured | Unmeasured:
    likelihood = face.human
    low, high = UNDECIDED_COVERED
    if face.visibility.whole < needs.BARELY_VISIBLE and low < likelihood < high:
        return needs.HIDDEN
    return Measured(value=round(likelihood, 3), shown=likely(likelihood))


@rule(FACING, needs.face_place)
def pose_suitable_for_replica(face: vision.SubjectFacts) -> Measured:
    """The angle from the line to the camera. How the head leans is :data:`head_level`."""
    if face.turned_deg:
        return _turned(face)
    pose = face.pose
    if abs(pose.yaw_deg) >= abs(pose.pitch_deg):
        way = "right" if pose.yaw_deg > 0 else "left"
    else:
        way = "up" if pose.pitch_deg > 0 else "down"
    return Measured(
        value=round(pose.turn_deg, 1),
        shown=f"{pose.turn_deg:.1f} degrees",
        way=way,
        words={"degrees": degrees(pose.turn_deg)},
    )


def _turned(face: vision.SubjectFacts) -> Measured:
    degrees_off = min(face.turned_deg, 360 - face.turned_deg)
    return Measured(value=degrees_off, shown=f"{degrees_off} degrees", cause=REASONS["not_upright"])


@rule(needs.FACE, needs.face_place, adjusts)
def head_level(face: vision.SubjectFacts) -> Measured:
    if face.turned_deg:
        return _turned(face)
    roll = face.pose.roll_deg
    return Measured(
        value=round(abs(roll), 1),
        shown=f"{abs(roll):.1f} degrees",
        way="left" if roll > 0 else "right",
        words={"degrees": degrees(roll)},
    )


@rule(FACING, needs.face_place)
def looking_straight_at_camera(face: vision.SubjectFacts) -> Measured:
    """Head turn and irises together, less what small or narrowed eyes leave in doubt."""
    eyes = face.eyes
    off, shut = eyes.gaze_surely_off_deg, None
    if eyes.openness < SHUT:
        off, shut = AWAY, "eyes shut"
    elif eyes.openness < NEARLY_SHUT and off < PERHAPS_AWAY:
        off, shut = PERHAPS_AWAY, "eyes perhaps shut"
    return Measured(
        value=round(off, 1),
        shown=shut,
        way="shut" if shut else None,
        words={"degrees": degrees(off)},
    )


@rule(
    needs.face_or(
        nobody=needs.NO_FACE,
        somebody=Measured(
            value=0.0, shown="somebody is there, but no face was found", cause=needs.NO_FACE
        ),
        hidden=Measured(
            value=0.0, shown="a face whose parts cannot be made out", cause=needs.HIDDEN
        ),
    ),
    needs.face_place,
)
def face_substantially_obscured(face: vision.SubjectFacts) -> Measured:
    """How likely nothing covers the face, 0 to 1."""
    visibility = face.visibility
    return Measured(
        value=round(visibility.whole, 2),
        shown=likely(visibility.whole),
        way=visibility.most_covered,
    )


_LOOKS: Need[vision.FootageFacts | vision.PortraitFacts] = Need(
    lambda facts: facts.footage or needs.PORTRAIT.get(facts)
)
no_nudity = plain(
    "no_nudity",
    _LOOKS.then(lambda looks: looks.nudity, REASONS["not_scored"]),
    lambda score: round(score, 3),
)
"""The score of open_nsfw, 0 to 1; of a video that of its worst frame."""


celebrity_or_copyright_character = Rule(
    "celebrity_or_copyright_character", needs.PORTRAIT.then(lambda _: REASONS["only_the_service"])
)


@rule(needs.PORTRAIT)
def only_one_person_visible(portrait: vision.PortraitFacts) -> Measured:
    """How many people, and how likely another one is: 1.6 is one person, and a doubt about another.

    A face that is not certain counts by how sure it is, where something else speaks for a person.
    """
    faces, subject = portrait.certain_faces, portrait.subject
    inhuman = subject is not None and subject.human < NO_PERSON
    doubted = max((face.score for face in portrait.faces), default=0.0) < DOUBTED_FACE
    people = len(faces) - (1 if inhuman and doubted else 0)
    if people == 1:
        return _alone(portrait)
    return Measured(
        value=people,
        way="several" if people > 1 else "nobody",
        region=faces[1].box if len(faces) > 1 else None,
        cause=None if faces else needs.NO_FACE,
    )


def _alone(portrait: vision.PortraitFacts) -> Measured:
    """One person, and what speaks for another."""
    others = portrait.others
    backed = portrait.doubtful_faces if others is None or others >= BACKED else ()
    face = max(backed, key=lambda face: face.score, default=None)
    likely, way = others or 0.0, "beside"
    if face is not None:
        likely, way = max((likely, way), (face.score, "face"))
    return Measured(
        value=round(1 + likely, 2),
        shown=f"1, and another {likely:.0%} likely",
        way=way,
        region=face.box if face is not None and way == "face" else None,
    )


@rule(needs.PORTRAIT, needs.face_place)
def appears_under_18(portrait: vision.PortraitFacts) -> Measured | Unmeasured:
    """The likelihood, 0 to 1, that the one who looks youngest is 18 or older. A covered face shows
    no age: it is judged only where even the visible part looks younger.
    """
    found = _largest_face(portrait)
    others = [(face.adult, face) for face in portrait.faces if face.adult is not None]
    if not others:
        return found
    adult, youngest = min(others, key=lambda other: other[0])
    least = found.value if isinstance(found, Measured) else ADULT
    if isinstance(least, float) and adult >= least:
        return found
    return Measured(value=round(adult, 3), shown=likely(adult), way="youngest", region=youngest.box)


def _largest_face(portrait: vision.PortraitFacts) -> Measured | Unmeasured:
    subject = portrait.subject
    if portrait.framing is None:
        return needs.NO_FACE
    if subject is None:
        return needs.HIDDEN
    if subject.visibility.whole < needs.BARELY_VISIBLE and subject.adult >= ADULT:
        return needs.HIDDEN
    return Measured(value=round(subject.adult, 3), shown=likely(subject.adult))


@rule(needs.FRAMED, needs.face_place)
def person_centered(framed: needs.Framed) -> Measured:
    offset = framed.framing.centre_x - 0.5
    side = "right" if offset > 0 else "left"
    return Measured(
        value=round(abs(offset), 3),
        shown=f"{abs(offset):.1%} of the width",
        way=side,
        words={"share": f"{abs(offset):.0%}"},
        advice=framing_advice(framed.portrait, framed.framing),
    )


@rule(needs.FRAMED)
def head_fully_in_frame(framed: needs.Framed) -> Measured:
    """The least room from head to border in face heights (hairline to chin), negative when cut."""
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


@rule(needs.FRAMED, needs.face_place)
def chest_up_framing_acceptable(framed: needs.Framed) -> Measured:
    """Face height over image height. An image that is narrower than any crop counts as if it were
    cropped to 3:4, so that a phone's portrait is not called far away.
    """
    share, portrait = framed.framing.face_height_share, framed.portrait
    tall = max(1.0, NARROWEST * portrait.height / portrait.width)
    share = max(share, min(share * tall, FACE_SHARE))
    return Measured(
        value=round(share, 3),
        shown=f"{share:.1%} of the height",
        words={"share": f"{share:.0%}"},
        advice=framing_advice(framed.portrait, framed.framing),
    )


@rule(needs.PORTRAIT, needs.face_place)
def image_quality_acceptable(portrait: vision.PortraitFacts) -> Measured:
    """A product of scores, 0 to 100. Each is a smooth step around its own limit, as in OFIQ."""
    scores = portrait.quality.scores
    total, weakest = round(vision.overall_score(scores)), min(scores, key=scores.__getitem__)
    return Measured(
        value=total,
        shown=f"{total} of 100 (least: {weakest})",
        way=weakest,
        cause=None if portrait.framing else needs.NO_FACE,
    )


@rule(needs.SKIN, needs.face_place, adjusts)
def face_brightness(skin: vision.Quality) -> Measured:
    """The luma, 0 to 1, that a quarter of the face exceeds, or :data:`GLOSS` times that of its
    brightest hundredth: in enough light the eyes and the gloss of dark skin are bright as well.
    """
    return Measured(value=round(max(skin.brightness, GLOSS * skin.peak), 2))


@rule(needs.SKIN, needs.face_place, adjusts)
def skin_hue(skin: vision.Quality) -> Measured | Unmeasured:
    if skin.skin_hue_deg is None or (skin.skin_chroma or 0.0) < COLOURLESS:
        return REASONS["grey"]
    return Measured(value=round(skin.skin_hue_deg))
