"""When a mouth counts as still, from made-up facts: what fails, what only warns."""

from __future__ import annotations

import pytest
from voices import voice_of

from palprep.consent import ConsentFacts
from palprep.rules.catalogue import report_on
from palprep.rules.profile import load_profile
from palprep.values import Outcome, Role
from palprep.vision import FootageFacts, FrameSample

PROFILE = load_profile()
TALKS = 0.2
"""How wide a mouth that speaks is open in every second sample."""


@pytest.fixture
def mouth_check(video_facts):
    """The check of a video that is all speech; ``opened`` says how wide at a time, every second
    sample."""

    def check(
        opened, *, role=Role.CONSENT_VIDEO, speech=(0.0, 20.0), every_s=0.25, rest=0.0, stated=None
    ):
        times = [index * every_s for index in range(int(20.0 / every_s))]
        footage = FootageFacts(
            every_s=every_s,
            looks=(),
            samples=tuple(
                FrameSample(
                    at_s=at_s, people=1, face_height_share=0.3,
                    mouth_open=rest + (opened(at_s) if index % 2 else 0.0),
                )
                for index, at_s in enumerate(times)
            ),
        )  # fmt: skip
        heard = stated and ConsentFacts(
            outcome="pass", transcript="", starts_at=stated[0], ends_at=stated[1], words=(),
            reasons=(), statement="", full_name="Ada", language="en",
        )  # fmt: skip
        facts = video_facts(duration_s=20.0).model_copy(
            update={
                "footage": footage,
                "voice": voice_of(speech, duration_s=20.0),
                "consent": heard or None,
            }
        )
        return report_on("x.mp4", facts, role, PROFILE).check("mouth_moves")

    return check


@pytest.mark.parametrize("role", [Role.CONSENT_VIDEO, Role.TRAINING_VIDEO])
def test_a_mouth_that_varies_less_than_any_speakers_fails(mouth_check, role):
    # Open by a in every second sample, the opening varies by a / 2 over 0.3 + a / 2.
    still = mouth_check(lambda at_s: 0.048, role=role)
    assert (still.outcome, still.measured) == (
        Outcome.FAIL,
        "its opening varies by 7.4%",
    )
    assert still.sentence == (
        "The mouth does not move while somebody speaks, though it is seen for 20.0 s."
    )
    assert "photograph" in still.advice
    barely = mouth_check(lambda at_s: 0.049, role=role)
    assert (barely.outcome, barely.measured) == (
        Outcome.WARN,
        "0% of the time while somebody speaks",
    )
    assert mouth_check(lambda at_s: TALKS, role=role).outcome is Outcome.PASS


def test_a_photograph_of_an_open_mouth_may_vary_by_more(mouth_check):
    # Half of an opening of 0.6 is more than a speaker's least: the share of it is what counts.
    swayed = mouth_check(lambda at_s: 0.12, rest=0.6)
    assert swayed.outcome is Outcome.FAIL
    assert mouth_check(lambda at_s: 0.16, rest=0.6).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("every_s", "speech", "outcome"),
    [
        (0.25, (5.0, 7.75), Outcome.WARN),  # 12 samples
        (0.25, (5.0, 8.0), Outcome.FAIL),  # 13 samples, which span 3 s
        (0.75, (4.5, 12.75), Outcome.WARN),  # 12 samples again
        (0.75, (4.5, 13.5), Outcome.FAIL),
    ],
)
def test_a_mouth_that_is_hardly_seen_only_warns(mouth_check, every_s, speech, outcome):
    check = mouth_check(lambda at_s: 0.0, every_s=every_s, speech=speech)
    assert check.outcome is outcome


@pytest.mark.parametrize("role", [Role.CONSENT_VIDEO, Role.TRAINING_VIDEO])
def test_the_statement_decides_where_it_was_heard(mouth_check, role):
    then = {"stated": (4.0, 10.0), "role": role}
    elsewhere = mouth_check(lambda at_s: 0.0 if 4.0 <= at_s <= 10.0 else TALKS, **then)
    assert elsewhere.outcome is Outcome.FAIL
    assert elsewhere.sentence.startswith("The mouth does not move while the statement is spoken")
    assert "6.2 s" in elsewhere.sentence
    stating = mouth_check(lambda at_s: TALKS if 4.0 <= at_s <= 10.0 else 0.0, **then)
    assert stating.outcome is Outcome.PASS


def test_a_statement_with_few_samples_is_judged_by_all_that_is_spoken(mouth_check):
    # A second apart, as in a long video: 6 of the statement, 20 of all.
    rare = {"stated": (4.0, 9.0), "every_s": 1.0, "role": Role.TRAINING_VIDEO}
    still = mouth_check(lambda at_s: 0.0, **rare)
    assert still.outcome is Outcome.FAIL
    assert still.sentence.startswith("The mouth does not move while somebody speaks")
    later = mouth_check(lambda at_s: TALKS if at_s > 11.0 else 0.0, **rare)
    assert (later.outcome, later.sentence) == (
        Outcome.WARN,
        "The mouth moves in only 0% of the seconds of the statement.",
    )


def test_pauses_in_the_statement_do_not_count(mouth_check):
    # Still while it speaks, and moving only before and after.
    moves = mouth_check(
        lambda at_s: 0.0 if 6.0 <= at_s <= 9.5 else TALKS, stated=(4.0, 12.0), speech=(6.0, 9.5)
    )
    assert moves.outcome is Outcome.FAIL


def test_a_profile_may_fail_what_only_warns(mouth_check, monkeypatch, tmp_path):
    own = tmp_path / "strict.toml"
    own.write_text(
        'name = "strict"\nextends = "core-4"\n[[limits.consent-video.mouth_moves]]\nmin = 0.2\n'
        'level = "fail"\nsource = "x"\ndate = 2026-01-01\n'
    )
    monkeypatch.setitem(globals(), "PROFILE", load_profile(own))
    assert mouth_check(lambda at_s: 0.0, speech=(5.0, 7.0)).outcome is Outcome.FAIL
