"""When lips fail, when they are in doubt, and when they are not judged: from made-up facts."""

from __future__ import annotations

import pytest
from voices import voice_of

from palprep.consent import LipsFacts
from palprep.consent.facts import Synchrony
from palprep.rules.catalogue import report_on
from palprep.rules.consent.checks import CONSENT_DOUBTS, consent_doubts
from palprep.rules.profile import load_profile
from palprep.rules.report import Check
from palprep.values import Outcome, Role, Span

PROFILE = load_profile()


@pytest.fixture
def judged(video_facts):
    """The report of a video that is all speech, with these lips."""

    def report(role=Role.CONSENT_VIDEO, **lips):
        found = {
            "stated": True, "span": Span(start_s=1.0, end_s=13.0),
            "motion": 0.05, "rests_at_s": 4.0, "repeat": 0.8, "repeats_at_s": 6.0,
            "blink": 0.2, "synchrony": synchrony(), **lips,
        }  # fmt: skip
        facts = video_facts(duration_s=20.0).model_copy(
            update={
                "voice": voice_of((0.0, 20.0), duration_s=20.0),
                "lips": LipsFacts.model_validate(found),
            }
        )
        return report_on("x.mp4", facts, role, PROFILE)

    return report


LIMIT = 0.25
"""Of the correlation and the margin together."""


def synchrony(correlation=0.3, margin=0.1, lag_s=0.04):
    return Synchrony(correlation=correlation, margin=margin, lag_s=lag_s)


@pytest.mark.parametrize("role", [Role.CONSENT_VIDEO, Role.TRAINING_VIDEO])
def test_rest_and_repetition_fail_just_below_their_limits(judged, role):
    for check_id, name, limit in (
        ("lips_keep_moving", "motion", 0.02),
        ("lips_not_repeated", "repeat", 0.45),
    ):
        assert judged(role, **{name: limit}).check(check_id).outcome is Outcome.PASS
        below = judged(role, **{name: limit - 0.001}).check(check_id)
        assert below.outcome is Outcome.FAIL
        assert " s on" in below.sentence
        assert check_id in CONSENT_DOUBTS


def test_a_listener_may_rest(judged):
    ids = {check.id for check in judged(Role.TRAINING_VIDEO, stated=False, motion=0.0).checks}
    assert "lips_not_repeated" in ids
    assert "lips_keep_moving" not in ids


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        (synchrony(correlation=0.15, margin=LIMIT - 0.15), Outcome.PASS),
        (synchrony(correlation=0.149, margin=LIMIT - 0.15), Outcome.WARN),
        (synchrony(correlation=-0.1), Outcome.WARN),
        (synchrony(correlation=0.3, margin=LIMIT - 0.3), Outcome.PASS),
        (synchrony(correlation=0.3, margin=LIMIT - 0.301), Outcome.WARN),
    ],
)
def test_lips_without_their_sound_are_a_doubt_and_no_failure(judged, found, outcome):
    check = judged(synchrony=found).check("lip_sync")
    assert check.outcome is outcome
    assert check.id in CONSENT_DOUBTS


@pytest.mark.parametrize("role", [Role.CONSENT_VIDEO, Role.TRAINING_VIDEO])
@pytest.mark.parametrize(
    ("check_id", "measure", "least"),
    [
        ("eyes_blink", "blink", 0.04),
        ("head_moves", "head", 0.018),
        ("face_has_depth", "parallax", 0.009),
    ],
)
def test_what_a_photograph_does_not_do_is_a_doubt_and_no_failure(
    judged, role, check_id, measure, least
):
    below = least - 0.001
    for value, outcome in ((least, Outcome.PASS), (below, Outcome.WARN), (0.0, Outcome.WARN)):
        check = judged(role, **{measure: value}).check(check_id)
        assert check.outcome is outcome
        assert check.id in CONSENT_DOUBTS
    # It is asked only while the statement is spoken: a listener may hold still.
    for lips in ({measure: None}, {"stated": False, measure: 0.0}):
        assert check_id not in {check.id for check in judged(**lips).checks}


def test_a_shift_is_told_with_the_seconds_to_watch(judged):
    check = judged(synchrony=synchrony(margin=-0.3, lag_s=0.6)).check("lip_sync")
    assert check.sentence == (
        "Lips and sound fit better from 1.0 s to 13.0 s with the sound shifted by 0.6 s."
    )


def test_five_seconds_of_lips_are_held_against_the_sound(judged):
    for margin, outcome in ((LIMIT - 0.15, Outcome.PASS), (LIMIT - 0.152, Outcome.WARN)):
        short = synchrony(correlation=0.15, margin=margin)
        assert judged(synchrony=short).check("lip_sync").outcome is outcome


def test_a_short_statement_is_not_held_against_the_sound(judged):
    report = judged(synchrony=None, span=Span(start_s=1.0, end_s=5.9))
    assert "lip_sync" not in {check.id for check in report.checks}


def test_lips_that_are_hidden_while_the_statement_is_spoken_are_a_doubt(judged):
    check = judged(synchrony=None).check("lip_sync")
    assert check.outcome is Outcome.UNKNOWN
    spoken = Check(id="consent_spoken", label="", outcome=Outcome.PASS)
    assert [each.check for each in consent_doubts((spoken, check), None)] == ["lip_sync"]
    other = judged(Role.TRAINING_VIDEO, stated=False, synchrony=None)
    assert "lip_sync" not in {check.id for check in other.checks}
