"""The face checks: what each measures, and what the default limits make of it."""

from __future__ import annotations

import pytest
from portraits import FLAWLESS

from palprep.api.records.replies import FACE_CHECKS
from palprep.rules.catalogue import RULES, judge
from palprep.rules.profile import load_profile
from palprep.rules.rule import Measured
from palprep.rules.texts.words import Unmeasured
from palprep.values import Outcome, Rect, Role
from palprep.vision import FootageFacts
from palprep.vision.facts import FaceFacts


def changed(value, **changes):
    """A copy with fields changed, also nested ones as ``part__field``."""
    for name, new in changes.items():
        part, _, rest = name.partition("__")
        if rest:
            new = changed(getattr(value, part), **{rest: new})  # noqa: PLW2901
        value = value.model_copy(update={part: new})
    return value


@pytest.fixture
def picture():
    """A flawless portrait, with chosen facts changed."""

    def build(**changes):
        return changed(FLAWLESS, **changes)

    return build


@pytest.fixture
def checks(image_facts):
    """Check id to check, under the default profile."""

    def of(seen):
        facts = image_facts().model_copy(update={"portrait": seen})
        return {each.id: each for each in judge(facts, Role.FACE_IMAGE, load_profile())}

    return of


def test_all_twelve_checks_of_the_service_are_there(picture, checks):
    found = checks(picture())
    assert set(FACE_CHECKS) <= set(found)
    local = [found[name].outcome for name in tuple(FACE_CHECKS)[:10]]
    assert local == [Outcome.PASS] * 10
    assert found["no_nudity"].outcome is Outcome.UNKNOWN
    assert 'pip install ".[nsfw]"' in str(found["no_nudity"].advice)
    assert found["celebrity_or_copyright_character"].outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("check_id", "changes", "outcome"),
    [
        ("appears_under_18", {"subject__adult": 0.019}, Outcome.FAIL),
        ("appears_under_18", {"subject__adult": 0.02}, Outcome.WARN),
        ("appears_under_18", {"subject__adult": 0.37}, Outcome.WARN),
        ("appears_under_18", {"subject__adult": 0.38}, Outcome.PASS),
        ("human_like_subject", {"subject__human": 0.09}, Outcome.FAIL),
        ("human_like_subject", {"subject__human": 0.11}, Outcome.WARN),
        ("human_like_subject", {"subject__human": 0.19}, Outcome.WARN),
        ("human_like_subject", {"subject__human": 0.21}, Outcome.PASS),
        ("person_centered", {"framing__centre_x": 0.29}, Outcome.FAIL),
        ("person_centered", {"framing__centre_x": 0.65}, Outcome.WARN),
        ("head_fully_in_frame", {"framing__margin_top": -0.1}, Outcome.FAIL),
        ("head_fully_in_frame", {"framing__margin_top": -0.01}, Outcome.WARN),
        ("head_fully_in_frame", {"framing__margin_side": 0.0}, Outcome.PASS),
        ("pose_suitable_for_replica", {"subject__pose__yaw_deg": -27.0}, Outcome.FAIL),
        ("pose_suitable_for_replica", {"subject__pose__pitch_deg": 23.0}, Outcome.WARN),
        (
            "pose_suitable_for_replica",
            {"subject__pose__yaw_deg": 20.0, "subject__pose__pitch_deg": -18.0},
            Outcome.FAIL,
        ),
        ("head_level", {"subject__pose__roll_deg": -16.0}, Outcome.WARN),
        ("head_level", {"subject__pose__roll_deg": -12.0}, Outcome.PASS),
        ("head_level", {"subject__turned_deg": 90}, Outcome.FAIL),
        ("pose_suitable_for_replica", {"subject__turned_deg": 270}, Outcome.FAIL),
        ("looking_straight_at_camera", {"subject__eyes__gaze_yaw_deg": 9.1}, Outcome.FAIL),
        ("looking_straight_at_camera", {"subject__eyes__gaze_pitch_deg": -14.0}, Outcome.WARN),
        (
            "looking_straight_at_camera",
            {"subject__eyes__gaze_yaw_deg": 9.0, "subject__eyes__gaze_doubt_deg": 3.0},
            Outcome.WARN,
        ),
        ("looking_straight_at_camera", {"subject__eyes__openness": 0.34}, Outcome.FAIL),
        ("looking_straight_at_camera", {"subject__eyes__openness": 0.42}, Outcome.WARN),
        ("looking_straight_at_camera", {"subject__eyes__openness": 0.43}, Outcome.PASS),
        ("face_substantially_obscured", {"subject__visibility__whole": 0.1}, Outcome.FAIL),
        ("face_substantially_obscured", {"subject__visibility__whole": 0.6}, Outcome.WARN),
        (
            "looking_straight_at_camera",
            {"subject__eyes__gaze_yaw_deg": 9.0, "subject__eyes__openness": 0.65},
            Outcome.WARN,
        ),
        (
            "looking_straight_at_camera",
            {"subject__eyes__gaze_yaw_deg": 15.0, "subject__eyes__openness": 0.65},
            Outcome.FAIL,
        ),
        ("chest_up_framing_acceptable", {"framing__face_height_share": 0.1}, Outcome.FAIL),
        ("chest_up_framing_acceptable", {"framing__face_height_share": 0.8}, Outcome.FAIL),
        ("image_quality_acceptable", {"quality__sharpness": 0.3}, Outcome.FAIL),
        ("image_quality_acceptable", {"quality__chroma": 0.5}, Outcome.PASS),
        ("image_quality_acceptable", {"quality__vivid_chroma": 80.0}, Outcome.FAIL),
        ("image_quality_acceptable", {"quality__peak": 0.42}, Outcome.FAIL),
        ("image_quality_acceptable", {"quality__peak": 0.5}, Outcome.PASS),
        ("image_quality_acceptable", {"quality__saturated": 0.6}, Outcome.FAIL),
        ("face_brightness", {"quality__brightness": 0.3, "quality__peak": 0.45}, Outcome.WARN),
        ("face_brightness", {"quality__brightness": 0.3, "quality__peak": 0.6}, Outcome.PASS),
        ("face_brightness", {"quality__brightness": 0.4, "quality__peak": 0.5}, Outcome.PASS),
        ("skin_hue", {"quality__skin_hue_deg": -20.0}, Outcome.WARN),
        ("skin_hue", {"quality__skin_chroma": 2.0}, Outcome.UNKNOWN),
        ("no_nudity", {"nudity": 0.03}, Outcome.PASS),
        ("no_nudity", {"nudity": 0.8}, Outcome.PASS),
        ("no_nudity", {"nudity": 0.81}, Outcome.WARN),
        ("no_nudity", {"nudity": 0.93}, Outcome.WARN),
        ("no_nudity", {"nudity": 0.99}, Outcome.FAIL),
    ],
)  # fmt: skip
def test_each_check_takes_its_own_measure(picture, checks, check_id, changes, outcome):
    assert checks(picture(**changes))[check_id].outcome is outcome


def test_a_covered_face_is_not_asked_its_age_unless_it_looks_young(picture, checks):
    covered = {"subject__visibility__whole": 0.1}
    assert checks(picture(**covered))["appears_under_18"].outcome is Outcome.UNKNOWN
    young = checks(picture(**covered, subject__adult=0.005))
    assert young["appears_under_18"].outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("likelihood", "outcome"),
    [(0.01, Outcome.FAIL), (0.05, Outcome.UNKNOWN), (0.15, Outcome.WARN), (0.25, Outcome.PASS)],
)
def test_of_a_covered_face_only_the_clear_cases_are_told(picture, checks, likelihood, outcome):
    seen = picture(subject__visibility__whole=0.1, subject__human=likelihood)
    assert checks(seen)["human_like_subject"].outcome is outcome


def test_the_youngest_of_several_people_is_judged(picture, checks):
    alone = picture().faces[0]
    beside = Rect(x=10, y=20, width=200, height=260)
    child, adult = (
        FaceFacts(box=beside, score=0.9, presence=0.9, adult=adult) for adult in (0.005, 0.99)
    )
    found = checks(picture(faces=(alone, adult, child)))["appears_under_18"]
    assert (found.outcome, found.measured) == (
        Outcome.FAIL,
        "0.5% likely",
    )
    assert found.region is not None
    assert found.region.x == beside.x
    grown_up = checks(picture(faces=(alone, adult)))["appears_under_18"]
    assert (grown_up.outcome, grown_up.measured) == (
        Outcome.PASS,
        "97.0% likely",
    )


def test_a_child_beside_a_covered_face_is_seen(picture, checks):
    beside = FaceFacts(
        box=Rect(x=10, y=20, width=200, height=260), score=0.9, presence=0.9, adult=0.005
    )
    covered = picture(faces=(picture().faces[0], beside), subject__visibility__whole=0.1)
    assert checks(covered)["appears_under_18"].outcome is Outcome.FAIL
    grown_up = beside.model_copy(update={"adult": 0.99})
    covered = picture(faces=(picture().faces[0], grown_up), subject__visibility__whole=0.1)
    assert checks(covered)["appears_under_18"].outcome is Outcome.UNKNOWN


def test_of_a_tall_image_a_crop_of_it_counts(picture, checks):
    """A phone's portrait leaves room above and below, which a crop takes away."""
    small = {"framing__face_height_share": 0.17}
    name = "chest_up_framing_acceptable"
    assert checks(picture(**small))[name].outcome is Outcome.FAIL
    tall = checks(picture(**small, width=900, height=1600))[name]
    assert (tall.outcome, tall.measured) == (Outcome.PASS, "22.7% of the height")
    near = checks(picture(framing__face_height_share=0.58, width=900, height=1600))[name]
    assert near.measured == "58.0% of the height"


def test_passers_by_do_not_count_but_companions_do(picture, checks):
    small = FaceFacts(box=Rect(x=0, y=0, width=60, height=80), score=0.9, presence=0.9)
    near = small.model_copy(update={"box": Rect(x=10, y=20, width=200, height=260)})
    alone = picture().faces[0]
    assert checks(picture(faces=(alone, small)))["only_one_person_visible"].passed
    two = checks(picture(faces=(alone, near)))["only_one_person_visible"]
    assert (two.outcome, two.measured) == (Outcome.FAIL, 2)
    assert two.region is not None
    assert two.region.x == 10


def test_a_face_that_is_not_certain_speaks_for_another_person(picture, checks):
    """The border cuts it, so that the landmark net does not know it."""
    cut = FaceFacts(box=Rect(x=1500, y=300, width=200, height=420), score=0.8, presence=0.01)
    found = checks(picture(faces=(picture().faces[0], cut), others=0.3))["only_one_person_visible"]
    assert (found.outcome, found.measured) == (Outcome.FAIL, "1, and another 80% likely")
    assert found.region is not None
    assert found.region.x == 1500
    two = (picture().faces[0], cut)
    small_print = cut.model_copy(update={"score": 0.84})
    printed = checks(picture(faces=(picture().faces[0], small_print), others=0.1))[
        "only_one_person_visible"
    ]
    assert (printed.outcome, printed.measured) == (Outcome.PASS, "1, and another 10% likely")
    hidden = checks(picture(faces=two, subject=None, others=None))["only_one_person_visible"]
    assert hidden.outcome is Outcome.FAIL
    passer_by = cut.model_copy(update={"box": Rect(x=1500, y=300, width=60, height=90)})
    alone = checks(picture(faces=(picture().faces[0], passer_by)))["only_one_person_visible"]
    assert alone.outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("others", "outcome"),
    [(0.5, Outcome.PASS), (0.51, Outcome.WARN), (0.75, Outcome.WARN), (0.76, Outcome.FAIL)],
)
def test_somebody_without_a_face_counts_by_how_likely_one_is_there(
    picture, checks, others, outcome
):
    found = checks(picture(others=others))["only_one_person_visible"]
    assert found.outcome is outcome
    assert f"{others:.0%}" in str(found.measured)


def test_a_picture_without_face_fails_and_says_why(picture, checks):
    empty = {"faces": (), "framing": None, "subject": None}
    somebody = checks(picture(**empty))["human_like_subject"]
    assert somebody.outcome is Outcome.UNKNOWN
    found = checks(picture(**empty, person_share=0.1))
    assert found["human_like_subject"].outcome is Outcome.FAIL
    assert found["human_like_subject"].measured == "no face was found"
    assert found["only_one_person_visible"].outcome is Outcome.FAIL
    assert found["person_centered"].outcome is Outcome.UNKNOWN
    assert found["image_quality_acceptable"].outcome is Outcome.PASS


def test_light_and_colour_are_not_told_from_a_mask(picture, checks):
    masked = {"subject__visibility__whole": 0.1, "quality__skin_hue_deg": -20.0}
    for seen in (picture(**masked), picture(subject=None)):
        assert checks(seen)["skin_hue"].outcome is Outcome.UNKNOWN
        assert checks(seen)["face_brightness"].outcome is Outcome.UNKNOWN


def test_weaknesses_add_up(picture, checks):
    soft, dark = {"quality__sharpness": 0.375}, {"quality__peak": 0.455}
    outcomes = {
        tuple(change): checks(picture(**change))["image_quality_acceptable"].outcome
        for change in (soft, dark, soft | dark)
    }
    assert [*outcomes.values()] == [Outcome.WARN, Outcome.WARN, Outcome.FAIL]


@pytest.mark.parametrize(
    ("share", "obscured"), [(0.4, Outcome.FAIL), (0.05, Outcome.UNKNOWN)], ids=["body", "nobody"]
)
def test_without_face_nobody_looks_and_a_body_is_covered(picture, checks, share, obscured):
    found = checks(picture(faces=(), framing=None, subject=None, person_share=share))
    assert found["looking_straight_at_camera"].outcome is Outcome.FAIL
    assert found["pose_suitable_for_replica"].outcome is Outcome.FAIL
    assert found["face_substantially_obscured"].outcome is obscured


def test_a_face_that_cannot_be_made_out_fails_where_it_must(picture, checks):
    found = checks(picture(subject=None))
    for name in (
        "face_substantially_obscured",
        "pose_suitable_for_replica",
        "looking_straight_at_camera",
    ):
        assert found[name].outcome is Outcome.FAIL
    assert found["appears_under_18"].outcome is Outcome.UNKNOWN
    assert found["person_centered"].outcome is Outcome.PASS


def test_a_picture_that_was_not_looked_at_is_unknown(image_facts):
    outcomes = {
        each.outcome
        for each in judge(image_facts(), Role.FACE_IMAGE, load_profile())
        if each.id in FACE_CHECKS
    }
    assert outcomes == {Outcome.UNKNOWN}


def test_a_video_is_as_nude_as_its_worst_close_look(picture, image_facts):
    rule = RULES["no_nudity"]
    looks = (picture(nudity=0.1), picture(nudity=0.9), picture())
    footage = FootageFacts(every_s=1.0, samples=(), looks=looks)
    facts = image_facts().model_copy(update={"portrait": looks[0], "footage": footage})
    assert rule.measure.get(facts) == Measured(value=0.9)
    unseen = footage.model_copy(update={"looks": looks[2:]})
    assert isinstance(rule.measure.get(facts.model_copy(update={"footage": unseen})), Unmeasured)


@pytest.mark.parametrize(
    ("check_id", "changes", "mended"),
    [
        ("head_level", {"subject__pose__roll_deg": -16.0}, True),
        ("head_level", {"subject__pose__roll_deg": -26.0}, False),
        ("face_brightness", {"quality__brightness": 0.2, "quality__peak": 0.2}, True),
        (
            "face_brightness",
            {"quality__brightness": 0.99, "quality__clipped_highlights": 0.3},
            False,
        ),
    ],
)
def test_advice_names_a_fix_only_where_it_is_made(
    picture, checks, video_facts, check_id, changes, mended
):
    seen = picture(**changes)
    found = checks(seen)[check_id]
    assert found.outcome is not Outcome.PASS
    assert ("palprep fix" in found.advice) is mended
    film = video_facts().model_copy(update={"portrait": seen})
    judged = {each.id: each for each in judge(film, Role.TRAINING_VIDEO, load_profile())}
    assert judged[check_id].outcome is not Outcome.PASS
    assert "palprep fix" not in judged[check_id].advice
