import pytest

from palprep.media.facts import MediaType
from palprep.rules.catalogue import RULES, judge
from palprep.rules.profile import load_profile
from palprep.rules.report import Report
from palprep.rules.rule import Measured
from palprep.rules.texts.words import REASONS
from palprep.values import Kind, Outcome, Role

PROFILE = load_profile()


def outcomes(facts, role):
    return {check.id: check for check in judge(facts, role, PROFILE)}


@pytest.mark.parametrize(
    ("check_id", "changed", "expected"),
    [
        ("image_base64_length", {"base64_chars": 29_360_128}, Outcome.PASS),
        ("image_base64_length", {"base64_chars": 29_360_129}, Outcome.FAIL),
        ("image_format", {"format": "gif"}, Outcome.FAIL),
        ("image_training_format", {"format": "heic"}, Outcome.WARN),
        ("image_resolution", {"width": 511}, Outcome.WARN),
        ("image_resolution", {"width": 512}, Outcome.PASS),
        ("image_long_side", {"height": 4097}, Outcome.WARN),
        ("image_upright", {"orientation": 6}, Outcome.WARN),
        ("image_srgb", {"mode": "CMYK"}, Outcome.WARN),
        ("image_srgb", {"icc_is_srgb": False}, Outcome.WARN),
        ("image_alpha", {"has_alpha": True}, Outcome.WARN),
        ("image_frames", {"frames": 2}, Outcome.WARN),
        ("image_metadata", {"metadata": ("gps",)}, Outcome.WARN),
        ("image_metadata", {"metadata": ("icc",)}, Outcome.PASS),
    ],
)
def test_stills(image_facts, check_id, changed, expected):
    check = outcomes(image_facts(**changed), Role.FACE_IMAGE)[check_id]
    assert check.outcome is expected
    assert (check.advice is None) == (expected is Outcome.PASS)
    assert check.source


@pytest.mark.parametrize(
    ("check_id", "changed", "expected"),
    [
        ("audio_duration", {"duration_s": 9.9}, Outcome.FAIL),
        ("audio_duration", {"duration_s": 30.0}, Outcome.WARN),
        ("audio_duration", {"duration_s": 60.0}, Outcome.PASS),
        ("audio_duration", {"duration_s": 181.0}, Outcome.WARN),
        ("audio_sample_rate", {"sample_rate_hz": 16_000}, Outcome.WARN),
        ("audio_channels", {"channels": 6}, Outcome.WARN),
        ("audio_audible", {"levels": (-120.0, -120.0)}, Outcome.FAIL),
        ("audio_audible", {"levels": None}, Outcome.UNKNOWN),
        ("audio_sample_peak", {"levels": (-0.1, -20.0)}, Outcome.WARN),
        ("file_extension", {"name": "ada.mp3"}, Outcome.FAIL),
    ],
)
def test_sound(audio_facts, check_id, changed, expected):
    assert outcomes(audio_facts(**changed), Role.VOICE_AUDIO)[check_id].outcome is expected


@pytest.mark.parametrize(
    ("check_id", "changed", "expected"),
    [
        ("video_frame_rate", {"frame_rate": 22.9}, Outcome.FAIL),
        ("video_frame_rate", {"frame_rate": 23.976}, Outcome.WARN),
        ("video_complete", {"joined": True}, Outcome.FAIL),
        ("video_frame_rate", {"frame_rate": 24.92}, Outcome.PASS),
        ("video_frame_rate", {"frame_rate": 24.0}, Outcome.WARN),
        ("video_duration", {"duration_s": 59.9}, Outcome.FAIL),
        ("video_duration", {"duration_s": 59.96}, Outcome.WARN),  # Shown as 60.0 s.
        ("video_duration", {"duration_s": 60.0}, Outcome.WARN),
        ("video_duration", {"duration_s": 90.0}, Outcome.PASS),
        ("video_codec", {"codec": "hevc"}, Outcome.FAIL),
        ("video_resolution", {"width": 1080, "height": 1920}, Outcome.PASS),
        ("video_resolution", {"width": 1280, "height": 720}, Outcome.WARN),
        ("video_faststart", {"moov_position": "end"}, Outcome.WARN),
        ("single_streams", {"other_streams": 1}, Outcome.WARN),
        ("single_streams", {"other_streams": 0}, Outcome.PASS),
        ("video_complete", {"truncated": True}, Outcome.FAIL),
        ("video_constant_frame_rate", {"frame_rate_constant": False}, Outcome.WARN),
        ("audio_present", {"audio": None}, Outcome.FAIL),
        ("file_size", {"size_bytes": 750_000_001}, Outcome.FAIL),
        ("file_size", {"size_bytes": 750_000_000}, Outcome.PASS),
    ],
)
def test_training_video(video_facts, check_id, changed, expected):
    assert outcomes(video_facts(**changed), Role.TRAINING_VIDEO)[check_id].outcome is expected


def test_a_flawless_training_video_breaks_no_limit_of_its_file(video_facts):
    found = outcomes(video_facts(), Role.TRAINING_VIDEO)
    broken = [each for each in found.values() if each.outcome in {Outcome.FAIL, Outcome.WARN}]
    assert broken == []


def test_a_rule_that_does_not_apply_gives_no_check(video_facts):
    webm = MediaType(
        kind=Kind.VIDEO, format="webm", description="WebM", mime="video/webm",
        extensions=(".webm",), accepted=True,
    )  # fmt: skip
    found = outcomes(
        video_facts(moov_position=None, media_type=webm, audio=None), Role.TRAINING_VIDEO
    )
    assert "video_faststart" not in found
    assert "video_audio_codec" not in found
    assert found["video_format"].outcome is Outcome.FAIL


def test_what_is_cut_off_is_not_called_short(audio_facts):
    half, whole = (audio_facts(duration_s=length, truncated=True) for length in (30.0, 90.0))
    check = outcomes(half, Role.VOICE_AUDIO)["audio_duration"]
    assert (check.outcome, check.sentence) == (Outcome.WARN, REASONS["cut_off"].reason)
    assert check.advice == REASONS["cut_off"].advice
    # What there is of it is enough.
    assert outcomes(whole, Role.VOICE_AUDIO)["audio_duration"].outcome is Outcome.PASS


def test_that_a_recording_is_cut_off_is_told_once_however_long_it_is(audio_facts):
    for length_s in (30.0, 90.0):
        facts = audio_facts(duration_s=length_s, truncated=True)
        found = outcomes(facts, Role.VOICE_AUDIO).values()
        told = [each for each in found if each.sentence == REASONS["cut_off"].reason]
        told = [each for each in told if each.outcome is not Outcome.PASS and not each.follows]
        assert [(each.id, each.outcome) for each in told] == [("audio_complete", Outcome.WARN)]


def test_the_worse_of_two_broken_limits_decides(audio_facts):
    check = outcomes(audio_facts(duration_s=5.0), Role.VOICE_AUDIO)["audio_duration"]
    assert check.limit == "at least 10 s"
    assert check.measured == "5.0 s"


def test_every_rule_explains_itself():
    for rule in RULES.values():
        assert len(rule.texts.text) > 20, rule.id
        assert rule.texts.text.endswith("."), rule.id
        assert rule.texts.label, rule.id
        assert rule.texts.advice.endswith("."), rule.id


def test_report_json_has_exactly_the_documented_keys(image_facts):
    facts = image_facts(format="gif")
    report = Report(
        path="ada.gif", role=Role.FACE_IMAGE, profile="core-4",
        checks=judge(facts, Role.FACE_IMAGE, PROFILE), facts=facts,
    )  # fmt: skip
    data = report.to_json()
    assert list(data) == [
        "path", "role", "profile", "verdict", "passed", "error", "checks", "facts",
    ]  # fmt: skip
    assert list(data["checks"][0]) == [
        "id", "label", "outcome", "passed", "sentence", "measured", "limit", "source", "advice",
        "follows", "region",
    ]  # fmt: skip
    assert data["verdict"] == "fail"
    assert data["passed"] is False
    failed = {each["id"] for each in data["checks"] if each["passed"] is False}
    assert failed == {"image_format"}


@pytest.mark.parametrize(
    ("role", "rule", "seconds", "limit"),
    [
        (Role.CONSENT_VIDEO, "video_duration", 12.5, "at most 30 s"),
        (Role.TRAINING_VIDEO, "video_duration", 100.0, "at least 60 s"),
        (Role.VOICE_AUDIO, "audio_duration", 90.0, "at least 10 s"),
    ],
)
def test_a_file_that_passes_is_told_the_limit_that_concerns_it(role, rule, seconds, limit):
    limits = load_profile("core-4").limits[role][rule]
    check = RULES[rule].check(Measured(value=seconds), limits)
    assert (check.outcome, check.limit) == (Outcome.PASS, limit)
