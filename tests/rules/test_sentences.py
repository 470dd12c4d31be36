"""What reports say, in words: the way in which a limit is broken, under any profile, once."""

from __future__ import annotations

import datetime as dt

import pytest
from portraits import FLAWLESS

from palprep.consent import ConsentFacts
from palprep.facts import Facts
from palprep.media import SignalFacts
from palprep.rules.catalogue import judge
from palprep.rules.profile import Limit, Profile, load_profile
from palprep.rules.report import Check, Report
from palprep.rules.texts.words import ABOVE, BELOW, ByLevel, RuleText
from palprep.values import Outcome, Role, Span
from palprep.vision import FootageFacts, FrameSample

PROFILE = load_profile()


def checks(facts: Facts, role: Role, profile: Profile = PROFILE) -> dict[str, Check]:
    return {check.id: check for check in judge(facts, role, profile)}


def with_limit(rule_id: str, role: Role, **changes: object) -> Profile:
    """The default profile with one limit of its own for a rule."""
    limit = Limit.model_validate(
        {"level": Outcome.FAIL, "source": "us", "date": dt.date(2026, 11, 1)} | changes
    )
    rules = {**PROFILE.for_role(role), rule_id: (limit,)}
    return PROFILE.model_copy(update={"limits": {**PROFILE.limits, role: rules}})


@pytest.mark.parametrize(
    ("check_id", "changed", "sentence"),
    [
        ("image_format", {"format": "gif"},
         "The format of the image is GIF, which is not accepted."),
        ("image_base64_length", {"base64_chars": 0},
         "The image contains no data: it has 0 characters in base64."),
        ("image_resolution", {"width": 400}, "The image is too small: it has 400 x 1200 px."),
        ("image_long_side", {"height": 5000},
         "The image is larger than is useful: it has 1600 x 5000 px."),
        ("image_upright", {"orientation": 6},
         "The image is stored turned: only its EXIF data say which side is up."),
        ("image_srgb", {"mode": "CMYK"},
         "The colours are not 8-bit sRGB. They are stored as CMYK, 8 bit, no ICC profile."),
        ("image_frames", {"frames": 3}, "The file contains 3 images, of which only one is used."),
        ("image_metadata", {"metadata": ("exif", "gps", "icc")},
         "The image carries private metadata: data of the camera (EXIF), the place (GPS)."),
        ("file_extension", {"name": "ada.png"},
         ("The name of the file ends in .png. "
          "The service does not accept this ending for its content, a JPEG image (.jpg, .jpeg).")),
        ("file_extension", {"name": "ada"},
         "The name of the file has no extension. Its content is a JPEG image (.jpg, .jpeg)."),
        ("image_resolution", {}, "The image has 1600 x 1200 px."),
    ],
)  # fmt: skip
def test_an_image_is_told_in_words(image_facts, check_id, changed, sentence):
    assert checks(image_facts(**changed), Role.FACE_IMAGE)[check_id].sentence == sentence


@pytest.mark.parametrize(
    ("check_id", "changed", "sentence"),
    [
        ("audio_present", {"audio": None}, "The file has no audio."),
        ("video_duration", {"duration_s": 42.0},
         "The video is too short: it lasts 42.0 s."),
        ("video_duration", {"duration_s": 75.0},
         "The video is shorter than is best: it lasts 75.0 s."),
        ("video_duration", {"duration_s": 300.0},
         "The video is longer than is best: it lasts 300.0 s."),
        ("video_frame_rate", {"frame_rate": 15.0},
         "The video has too few frames: 15.00 per second."),
        ("video_frame_rate", {"frame_rate": 119.88},
         "The video has too many frames, as slow motion has: 119.88 per second."),
        ("video_frame_rate", {"taken_rate": 240.0},
         "The video is slow motion: 240 frames were taken per second, and 30.00 are shown."),
        ("video_frame_rate", {"taken_rate": 60.0}, "The video has 30.00 frames per second."),
        ("video_frame_rate", {"frame_rate": 119.88, "taken_rate": 120.0},
         "The video has too many frames, as slow motion has: 119.88 per second."),
        ("video_codec", {"codec": "hevc", "codec_profile": "Main"},
         "The video codec is hevc Main, which is not accepted."),
        ("video_upright", {"rotation_deg": 90},
         "The frames are stored turned, and the player must turn them by 90 degrees."),
        ("video_upright", {"mirrored": True},
         "The frames are stored mirrored, and the player must mirror them."),
        ("video_upright", {"mirrored": True, "rotation_deg": 180},
         "The frames are stored mirrored and turned, and the player must undo both."),
        ("video_faststart", {"moov_position": "end"},
         "The index is at the end of the file: nothing plays before the whole file is loaded."),
        ("video_faststart", {"moov_position": "fragmented"},
         "The index is spread over the file, and not at its front."),
        ("video_pixel_format", {"pixel_format": None}, "The file does not state its pixel format."),
    ],
)  # fmt: skip
def test_a_video_is_told_in_words(video_facts, check_id, changed, sentence):
    assert checks(video_facts(**changed), Role.TRAINING_VIDEO)[check_id].sentence == sentence


@pytest.mark.parametrize(
    ("check_id", "changed", "sentence"),
    [
        ("audio_audible", {"levels": (-80.0, -90.0)},
         "The audio is silent, or nearly so: its level is -90.0 dBFS RMS."),
        ("audio_sample_peak", {"levels": (-0.1, -20.0)},
         "The audio is too loud: its highest sample is at -0.1 dBFS."),
        ("audio_channels", {"channels": 6}, "The audio has too many channels: it has 6 channels."),
        ("audio_sample_rate", {"sample_rate_hz": 8_000},
         "The sample rate is too low: it is 8,000 Hz."),
    ],
)  # fmt: skip
def test_a_recording_is_told_in_words(audio_facts, check_id, changed, sentence):
    assert checks(audio_facts(**changed), Role.VOICE_AUDIO)[check_id].sentence == sentence


def test_moments_stand_in_the_sentence(video_facts):
    signal = SignalFacts(
        frames=2000, seconds=(), black=(Span(start_s=3.0, end_s=5.5),), cuts=(1.0, 2.0, 3.0, 4.0),
        freezes=(), exposure_steps=(), flicker_percent=0.1, shake_percent=2.0,
    )  # fmt: skip
    found = checks(video_facts(signal=signal), Role.TRAINING_VIDEO)
    assert found["video_cuts"].sentence == (
        "The video has 4 cuts, at 1.0 s, 2.0 s, 3.0 s and 1 more."
    )
    assert found["video_black"].sentence == "The video is black for 2.5 s, at 3.0 s."
    assert found["video_exposure_steps"].sentence == "The light has no sudden changes."
    assert found["video_steadiness"].sentence == (
        "The camera is not steady: it moves by 2% of the width."
    )


def test_moments_are_those_of_a_player_whenever_the_clock_of_the_file_starts(video_facts):
    span = Span(start_s=7203.0, end_s=7205.0)
    signal = SignalFacts(
        frames=2000, seconds=(), black=(span,), cuts=(7204.0,), freezes=(span,),
        exposure_steps=(7206.0,), flicker_percent=0.1, shake_percent=0.1,
    )  # fmt: skip
    alone, crowd = (FrameSample(at_s=7200.0 + at, people=at) for at in (1, 2))
    footage = FootageFacts(every_s=1.0, samples=(alone, crowd), looks=())
    facts = video_facts(signal=signal, start_s=7200.0).model_copy(update={"footage": footage})
    found = checks(facts, Role.TRAINING_VIDEO)
    moments = {"video_black": 3, "video_freezes": 3, "video_cuts": 4, "video_exposure_steps": 6}
    for check_id, at_s in {**moments, "one_person_throughout": 2}.items():
        assert f"at {at_s}.0 s" in found[check_id].sentence


def test_a_sentence_is_true_under_another_profile(image_facts):
    small = with_limit("image_resolution", Role.FACE_IMAGE, max=1000)
    found = checks(image_facts(), Role.FACE_IMAGE, small)["image_resolution"]
    assert (found.outcome, found.sentence) == (
        Outcome.FAIL,
        "The image is too large: it has 1600 x 1200 px.",
    )
    assert found.limit == "at most 1,000 px"


def test_an_image_that_was_looked_at_is_not_told_to_be_too_heavy_for_it(image_facts):
    light = with_limit("image_memory", Role.FACE_IMAGE, max=1, level=Outcome.WARN)
    found = checks(image_facts(), Role.FACE_IMAGE, light)["image_memory"]
    assert found.sentence.startswith("Decoding the image takes much memory: ")


def test_a_statement_heard_with_doubts_is_told_so_where_a_profile_takes_it(video_facts):
    lenient = with_limit("consent_spoken", Role.CONSENT_VIDEO, any_of=("pass", "warn"))
    doubtful = ConsentFacts(
        outcome=Outcome.WARN, starts_at=1.0, ends_at=9.0, words=(), reasons=("Listen to it.",),
        statement="", full_name="Ada", language="en",
    )  # fmt: skip
    facts = video_facts().model_copy(update={"consent": doubtful})
    found = checks(facts, Role.CONSENT_VIDEO, lenient)["consent_spoken"]
    assert found.outcome is Outcome.PASS
    assert found.sentence == "The statement of consent was heard, with doubts."


def test_a_yes_is_told_as_it_is_where_a_profile_wants_no(image_facts):
    clear = with_limit("image_alpha", Role.FACE_IMAGE, equals=False)
    found = checks(image_facts(), Role.FACE_IMAGE, clear)["image_alpha"]
    assert (found.outcome, found.sentence) == (Outcome.FAIL, "The image is opaque.")
    found = checks(image_facts(has_alpha=True), Role.FACE_IMAGE, clear)["image_alpha"]
    assert found.outcome is Outcome.PASS
    assert found.sentence == "The image has a channel of transparency."


def test_a_way_without_a_sentence_is_told_by_what_was_measured():
    said = RuleText(
        label="Size", text="It has a size.", advice="Try again.",
        sentences={
            "met": "It is {measured}.",
            "above": ByLevel(fail="It is too much.", warn="It is much."),
        },
    )  # fmt: skip
    assert said.sentence(ABOVE, Outcome.FAIL) == "It is too much."
    assert said.sentence(ABOVE, Outcome.WARN) == "It is much."
    assert said.sentence(BELOW, Outcome.FAIL) == "It is {measured}."
    assert [each for each, _ in said.listed()] == ["pass", "fail", "warn"]


def test_braces_in_a_name_stay_as_they_are(image_facts):
    found = checks(image_facts(name="ada.{0}"), Role.FACE_IMAGE)["file_extension"]
    assert found.sentence.startswith("The name of the file ends in .{0}. ")


@pytest.fixture
def faceless(image_facts) -> Report:
    """The report on an image in which nobody is found."""
    unseen = {"skin_gains": None, "skin_hue_deg": None, "skin_chroma": None}
    nobody = {"faces": (), "person_share": 0.0, "framing": None, "subject": None}
    quality = FLAWLESS.quality.model_copy(update=unseen)
    portrait = FLAWLESS.model_copy(update={**nobody, "quality": quality})
    facts = image_facts().model_copy(update={"portrait": portrait})
    found = judge(facts, Role.FACE_IMAGE, PROFILE)
    return Report(path="x.jpg", role=Role.FACE_IMAGE, profile="core-4", checks=found, facts=facts)


def test_a_blurred_image_without_a_face_has_no_face_that_is_not_sharp(faceless):
    portrait = faceless.facts.portrait
    blurred = portrait.quality.model_copy(update={"sharpness": 0.1})
    facts = faceless.facts.model_copy(
        update={"portrait": portrait.model_copy(update={"quality": blurred})}
    )
    [quality] = (
        each
        for each in judge(facts, Role.FACE_IMAGE, PROFILE)
        if each.id == "image_quality_acceptable"
    )
    assert (quality.outcome, quality.sentence) == (Outcome.FAIL, "No face was found.")


def test_no_face_is_told_once(faceless):
    (told,) = faceless.told(Outcome.FAIL)
    assert told.sentence == "No face was found."
    assert len(faceless.having(Outcome.FAIL)) == 4
    following = faceless.following(told)
    assert {check.sentence for check in following} == {told.sentence}
    assert {check.outcome for check in following} == {Outcome.FAIL, Outcome.UNKNOWN}
    assert len(following) > 8


@pytest.mark.parametrize(
    ("changes", "teller"),
    [
        ({"brightness": 0.28, "peak": 0.38}, "image_quality_acceptable"),
        ({"brightness": 0.28, "peak": 0.38, "noise": 30.0}, None),
    ],
)
def test_a_dark_face_is_told_once_and_noise_beside_it(image_facts, changes, teller):
    quality = FLAWLESS.quality.model_copy(update=changes)
    portrait = FLAWLESS.model_copy(update={"quality": quality})
    found = checks(image_facts().model_copy(update={"portrait": portrait}), Role.FACE_IMAGE)
    assert found["image_quality_acceptable"].outcome is Outcome.FAIL
    assert found["face_brightness"].outcome is Outcome.WARN
    assert found["face_brightness"].follows == teller


def test_what_is_left_of_a_video_that_is_cut_off_is_not_called_short(video_facts):
    short = {"duration_s": 33.5, "frame_rate": 18.75, "frame_rate_constant": False}
    facts = video_facts(**short, truncated=True)
    found = judge(facts, Role.TRAINING_VIDEO, PROFILE)
    report = Report(
        path="x.mp4", role=Role.TRAINING_VIDEO, profile="core-4", checks=found, facts=facts
    )
    (told,) = report.told(Outcome.FAIL, Outcome.WARN)
    assert told.id == "video_complete"
    followed = {"video_duration", "video_frame_rate", "video_constant_frame_rate"}
    assert {check.id for check in report.following(told)} == followed
    whole = checks(video_facts(**short), Role.TRAINING_VIDEO)
    assert {whole[each].follows for each in followed} == {None}


def test_what_passes_follows_from_nothing(image_facts):
    found = checks(image_facts(format="heic"), Role.FACE_IMAGE)
    assert {check.follows for check in found.values() if check.outcome is Outcome.PASS} == {None}


def test_a_check_of_an_older_record_is_told_by_its_label():
    old = Check.model_validate({"id": "image_format", "label": "Image format", "outcome": "fail"})
    assert old.sentence == "Image format"
