"""Which measures are taken of what, on the sample media."""

import io
from pathlib import Path

import pytest
from PIL import Image

from palprep.filmstrip import filmstrip_png, lanes_of
from palprep.media.sniff import sniff
from palprep.preflight import Preflight
from palprep.probe import QUICK_SAMPLES, Instruments, Speaker, probe
from palprep.rules.roles import Outcome, Role
from palprep.rules.timeline import timeline
from palprep.vision.lanes import WIDTH

JANE = Path(__file__).parents[1] / "sample_media/people/jane-carter"
CONSENT = JANE / "consent.mp4"


@pytest.fixture(scope="module")
def instruments():
    return Instruments()


@pytest.fixture(scope="module")
def consent(instruments):
    """The consent clip with everything measured."""
    preflight = Preflight(instruments=instruments)
    return preflight.check(
        CONSENT, role=Role.CONSENT_VIDEO, speaker=Speaker(full_name="Jane Carter")
    )


def test_a_video_is_watched_listened_to_and_verified(consent):
    facts = consent.facts
    assert facts.footage.samples[0].people == 1
    assert facts.picture.people == 1
    assert facts.video.signal.frames > 100
    assert facts.voice.speech
    assert facts.consent.outcome == "pass"
    assert consent.check("consent_spoken").outcome is Outcome.PASS
    assert consent.check("one_person_throughout").outcome is Outcome.PASS
    assert consent.check("same_person_throughout").outcome is Outcome.PASS


def test_quick_leaves_the_rest_unknown_and_looks_at_few_frames(instruments):
    report = Preflight(instruments=instruments, quick=True).check(CONSENT)
    facts = report.facts
    assert facts.voice is None
    assert facts.consent is None
    assert len(facts.footage.samples) <= QUICK_SAMPLES
    unknown = {check.id for check in report.having(Outcome.UNKNOWN)}
    assert {"audio_audible", "video_cuts", "consent_spoken"} <= unknown
    assert report.check("video_codec").outcome is Outcome.PASS


def test_the_voice_of_a_video_needs_no_look_at_its_picture(instruments):
    facts = probe(CONSENT, sniff(CONSENT), Role.VOICE_AUDIO, instruments)
    assert facts.voice.speech
    assert facts.footage is None
    assert facts.picture is None


def test_the_time_line_of_a_report_is_a_picture(consent):
    line = timeline(consent.facts)
    lanes = {lane.label: lane for lane in lanes_of(line)}
    assert lanes["Consent"].spans == [(line.consent.start_s, line.consent.end_s)]
    assert lanes["Speech"].spans
    with Image.open(io.BytesIO(filmstrip_png(consent))) as picture:
        assert picture.format == "PNG"
        assert picture.width == WIDTH
        strip = picture.crop((140, 0, 240, 40)).convert("L")
        assert strip.getextrema()[0] < 200


def test_a_still_has_no_time_line(instruments):
    assert filmstrip_png(Preflight(instruments=instruments).check(JANE / "portrait.heic")) is None
