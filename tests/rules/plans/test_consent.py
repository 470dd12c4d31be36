"""The statement cut out of the video that it opens."""

from __future__ import annotations

import datetime as dt

import pytest
from voices import voice_of

from palprep.consent import ConsentFacts
from palprep.consent.wording import CodeReading
from palprep.media import SignalFacts
from palprep.rules.catalogue import judge
from palprep.rules.plans.video import plan_consent_clip
from palprep.rules.profile import load_profile
from palprep.rules.report import Report
from palprep.values import Role, Span

PROFILE = load_profile()


@pytest.fixture
def clip_of(video_facts):
    """``clip_of(outcome, *speech, starts_at=, ends_at=, ...)``: the plan for such a video."""

    def planned(
        outcome, *speech, starts_at=6.0, ends_at=18.0, size_bytes=90_000_000, code=None,
        with_code=False, after="pass", **video,
    ):  # fmt: skip
        facts = video_facts(size_bytes=size_bytes, **video).model_copy(
            update={
                "voice": voice_of(*speech),
                "consent": ConsentFacts(
                    outcome=outcome, transcript="", starts_at=starts_at, ends_at=ends_at,
                    words=(), reasons=(), statement="", full_name="Ada", language="en",
                    said_before="hello" if starts_at > 1 else "", code=code, after=after,
                ),
            }
        )  # fmt: skip
        role = Role.CONSENT_VIDEO
        checks = judge(facts, role, PROFILE)
        report = Report(path="x", role=role, profile="core-4", checks=checks, facts=facts)
        return plan_consent_clip(report, facts, PROFILE, with_code=with_code)

    return planned


def test_the_clip_is_the_statement_with_a_little_air(clip_of):
    plan = clip_of("pass", (0.5, 4.0), (6.0, 18.0), (20.0, 90.0))
    assert (plan.trim.start_s, plan.trim.end_s) == (pytest.approx(5.7), pytest.approx(18.5))
    assert (plan.copy_video, plan.copy_audio) == (False, False)
    assert "its own" in plan.reasons[-1].why


@pytest.mark.parametrize(
    ("codec", "copied"), [("h264", True), ("vp9", True), ("vp8", False), ("prores", False)]
)
def test_what_mp4_cannot_hold_is_encoded_whatever_the_profile_asks(
    video_facts, tmp_path, codec, copied
):
    (tmp_path / "own.toml").write_text(
        'extends = "core-4"\nname = "own"\ndisable = ["video_codec"]\n'
    )
    own = load_profile(tmp_path / "own.toml")
    facts = video_facts(codec=codec).model_copy(
        update={
            "voice": voice_of((0.0, 12.0), (14.0, 90.0)),
            "consent": ConsentFacts(
                outcome="pass", transcript="", starts_at=0.0, ends_at=12.0, words=(), reasons=(),
                statement="", full_name="Ada", language="en", said_before="",
            ),
        }
    )  # fmt: skip
    role = Role.CONSENT_VIDEO
    checks = judge(facts, role, own)
    report = Report(path="x", role=role, profile="own", checks=checks, facts=facts)
    plan = plan_consent_clip(report, facts, own)
    assert (plan.trim.start_s, plan.copy_video, plan.copy_audio) == (0.0, copied, True)


def test_no_neighbouring_word_comes_along(clip_of):
    plan = clip_of("warn", (0.5, 5.8), (6.0, 18.0), (18.4, 90.0))
    assert 5.8 < plan.trim.start_s < 6.0
    assert plan.trim.end_s == pytest.approx(18.2)


def test_no_neighbouring_shot_comes_along(clip_of):
    signal = SignalFacts(frames=3000, seconds=(), black=(), freezes=(), cuts=(2.0, 5.9, 18.3, 40.0))
    plan = clip_of("pass", (0.5, 4.0), (6.0, 18.0), signal=signal)
    assert (plan.trim.start_s, plan.trim.end_s) == (5.9, 18.3)


def test_the_clip_ends_where_the_video_ends(clip_of):
    plan = clip_of("pass", (85.0, 99.8), starts_at=85.0, ends_at=99.8)
    assert plan.trim.end_s == 100.0


def test_it_gets_the_format_of_a_consent_video_and_needs_no_fitting(clip_of):
    plan = clip_of("pass", (6.0, 18.0), codec="hevc", size_bytes=900_000_000)
    assert {reason.fix for reason in plan.reasons} == {"transcode_video", "trim"}
    assert plan.max_size_bytes is None


@pytest.mark.parametrize("outcome", ["fail", "unknown"])
def test_what_was_not_heard_is_not_cut_out(clip_of, outcome):
    assert clip_of(outcome, (6.0, 18.0)) is None
    assert clip_of(outcome, (0.3, 18.0), starts_at=0.3) is None


def test_what_would_show_wrong_colours_is_not_cut_out(clip_of):
    assert clip_of("pass", (6.0, 18.0), dolby_vision="5.0") is None
    assert clip_of("pass", (6.0, 18.0), dolby_vision="8.4") is not None


NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
ASKED = CodeReading(words=("tiger",), given_at=NOON, ends_at=NOON, judged_at=NOON)
SPOKEN = ASKED.model_copy(update={"spoken": Span(start_s=18.1, end_s=21.0)})


def test_the_code_is_left_out_and_in_what_keeps_it(clip_of):
    speech = ((6.0, 18.0), (18.2, 21.0))
    assert clip_of("warn", *speech, code=SPOKEN).trim.end_s == 18.1
    kept = clip_of("warn", *speech, code=SPOKEN, with_code=True)
    assert (kept.trim.start_s, kept.trim.end_s) == (pytest.approx(5.7), pytest.approx(21.5))
    assert "in one take" in kept.reasons[-1].why


@pytest.mark.parametrize("code", [None, ASKED, SPOKEN.model_copy(update={"kept_in": "x.mp4"})])
def test_where_no_code_is_heard_none_is_kept(clip_of, code):
    assert clip_of("pass", (6.0, 18.0), code=code).trim.end_s == pytest.approx(18.5)
    assert clip_of("pass", (6.0, 18.0), code=code, with_code=True) is None


@pytest.mark.parametrize("after", ["warn", "fail"])
def test_a_remark_is_not_cut_off(clip_of, after):
    assert clip_of("warn", (6.0, 18.0), (18.5, 20.0), after=after) is None
