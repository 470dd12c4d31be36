"""A fresh code after the statement, heard by the real models."""

from __future__ import annotations

import datetime as dt

import pytest

from palprep import preflight
from palprep.consent.wording import AskedCode
from palprep.facts import Speaker
from palprep.preflight import verify_consent
from palprep.values import Outcome, Role

NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


def asked(words: str, *, minutes: float = 5) -> AskedCode:
    ends_at, judged_at = (NOON + dt.timedelta(minutes=each) for each in (30, minutes))
    return AskedCode(
        words=tuple(words.split()), given_at=NOON, ends_at=ends_at, judged_at=judged_at
    )


@pytest.fixture(scope="module")
def verify(coded_consent):
    return lambda code, path=coded_consent: verify_consent(path, full_name="Jane Carter", code=code)


def test_a_code_that_is_spoken_is_evidence_and_no_remark(verify):
    facts = verify(asked("tiger lemon cactus"))
    assert (facts.outcome, facts.reasons, facts.said_after) == ("pass", (), "")
    assert 11.5 < facts.ends_at < 12.3 < facts.code.spoken.start_s < 12.9
    assert 14 < facts.code.spoken.end_s < 15.5
    assert facts.shown("x")["code"]["given_at"] == "2026-03-01T12:00:00Z"
    assert verify(facts.code) == facts


def test_another_code_is_a_doubt_that_says_what_was_expected(verify):
    facts = verify(asked("tiger lemon piano"))
    assert facts.outcome == "warn"
    assert "“tiger lemon piano”" in facts.reasons[-1]
    assert "“Tiger, Lemon, Cactus" in facts.reasons[-1]
    assert facts.code.spoken is None


def test_where_nothing_follows_the_code_is_missing(verify, spoken_consent):
    facts = verify(asked("tiger lemon cactus"), spoken_consent)
    assert facts.outcome == "warn"
    assert facts.reasons[-1].endswith("is not heard after the statement.")


def test_the_code_is_cut_from_the_video_and_kept_beside_it(verify, coded_consent, tmp_path):
    speaker = Speaker(full_name="Jane Carter", code=asked("tiger lemon cactus"))
    prepared = preflight.prepare(
        coded_consent, into=tmp_path, role=Role.CONSENT_VIDEO, speaker=speaker
    )
    kept = prepared.evidence
    assert {each.name for each in tmp_path.iterdir()} == {"consent.mp4", "consent-code.mp4"}
    assert [each.path.name for each in prepared.files] == ["consent.mp4", "consent-code.mp4"]
    facts, code = prepared.report.facts, prepared.report.facts.consent.code
    assert 12.2 < facts.video.duration_s < 13
    assert prepared.report.check("consent_spoken").outcome is Outcome.PASS
    assert code.kept_in == "consent-code.mp4"
    assert code.spoken == kept.report.facts.consent.code.spoken
    assert code.spoken.end_s < kept.report.facts.video.duration_s
    heard = verify(speaker.code, prepared.path)
    assert (heard.code.spoken, heard.code.heard, heard.said_after) == (None, "", "")
