"""Whatever a rule finds, every one of its sentences can be said of it: no place stays empty."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator

import pytest
from portraits import FLAWLESS
from voices import voice_of

from palprep.consent import ConsentFacts, LipsFacts
from palprep.consent.facts import Synchrony
from palprep.facts import Facts
from palprep.media import SignalFacts, TimingFacts
from palprep.rules.catalogue import RULES
from palprep.rules.profile import Limit
from palprep.rules.rule import Measured, Rule
from palprep.rules.texts.words import MET
from palprep.values import Outcome, Span
from palprep.vision import FootageFacts, FrameSample, OverlayFacts

PORTRAIT = FLAWLESS.model_copy(update={"nudity": 0.01})
CONSENT = ConsentFacts(
    outcome=Outcome.PASS, transcript="I agree", starts_at=1.0, ends_at=9.0, words=(),
    reasons=("Faint.",), statement="I agree", full_name="Ada", language="en",
)  # fmt: skip
FOOTAGE = FootageFacts(
    every_s=0.5, looks=(PORTRAIT,), overlay=OverlayFacts(frames=5, with_text=0, region=None),
    samples=tuple(
        FrameSample(
            at_s=at / 2, people=1, face_height_share=0.3, yaw_deg=1, pitch_deg=1,
            gaze_off_deg=2, mouth_open=0.1 * (at % 2), similarity=0.9,
        )
        for at in range(40)
    ),
)  # fmt: skip
LIPS = LipsFacts(
    stated=True, span=Span(start_s=1.0, end_s=13.0), motion=0.05, rests_at_s=4.0,
    repeat=0.8, repeats_at_s=6.0, blink=0.2, head=0.06, parallax=0.03,
    synchrony=Synchrony(correlation=0.3, margin=0.1, lag_s=0.04),
)  # fmt: skip
TIMING = TimingFacts(dropped_frames=0, audio_offset_s=0.0, audio_drift_s=0.0)
SIGNAL = SignalFacts(
    frames=600, seconds=(), black=(), cuts=(), freezes=(), exposure_steps=(),
    flicker_percent=0.1, shake_percent=0.1,
)  # fmt: skip


@pytest.fixture
def files(image_facts, audio_facts, video_facts) -> tuple[Facts, ...]:
    """Of each kind a file that is fit, of which everything was measured."""
    voice = voice_of((1.0, 9.0), duration_s=20.0)
    video = video_facts(duration_s=20.0, timing=TIMING, signal=SIGNAL, dolby_vision="8.4")
    return (
        image_facts().model_copy(update={"portrait": PORTRAIT}),
        audio_facts().model_copy(update={"voice": voice}),
        video.model_copy(
            update={"footage": FOOTAGE, "voice": voice, "consent": CONSENT, "lips": LIPS}
        ),
    )


@pytest.fixture
def find(files) -> Callable[[str], Iterator[Measured]]:
    """What a rule finds in the files of which it measures anything."""

    def found(rule_id: str) -> Iterator[Measured]:
        rule = RULES[rule_id]
        assert isinstance(rule, Rule)
        for facts in files:
            answer = rule.measure.get(facts)
            if isinstance(answer, Measured):
                yield answer

    return found


NEVER_MEASURED = {
    "celebrity_or_copyright_character", "same_person", "same_voice", "consent_not_taken_back"
}  # fmt: skip


@pytest.mark.parametrize("rule_id", sorted(set(RULES) - NEVER_MEASURED))
def test_every_sentence_can_be_said(find, rule_id):
    rule, measured = RULES[rule_id], list(find(rule_id))
    assert measured, "no file of these is measured by it"
    for answer in measured:
        wrong = Limit(
            equals="something else", level=Outcome.FAIL, source="us", date=dt.date(2026, 11, 1)
        )
        for way in set(rule.texts.sentences) - {MET}:
            for level in (Outcome.FAIL, Outcome.WARN):
                value = False if isinstance(answer.value, bool) else answer.value
                told = rule.check(
                    answer.model_copy(update={"way": way, "value": value}),
                    [wrong.model_copy(update={"level": level})],
                )
                assert told.outcome is level
                assert told.sentence
                assert "{" not in told.sentence
        assert rule.check(answer, [wrong]).sentence
