import pytest
from portraits import FLAWLESS

from palprep.rules.catalogue import judge
from palprep.rules.plans.planner import plan
from palprep.rules.plans.values import VoicePlan
from palprep.rules.profile import load_profile
from palprep.rules.report import Report, ReportError
from palprep.values import Role, Span

PROFILE = load_profile()


def planned(facts, role):
    checks = judge(facts, role, PROFILE)
    report = Report(path="x", role=role, profile=PROFILE.name, checks=checks, facts=facts)
    return plan(report, PROFILE)


def fixes(repair):
    return {reason.fix: reason.answers for reason in repair.reasons}


def test_nothing_wrong_nothing_planned(image_facts, video_facts, audio_facts):
    assert planned(image_facts(), Role.FACE_IMAGE) is None
    assert planned(video_facts(), Role.TRAINING_VIDEO) is None
    assert planned(audio_facts(), Role.VOICE_AUDIO) is None


def test_what_no_repair_can_mend_is_not_planned(image_facts, video_facts):
    assert planned(image_facts(width=300), Role.FACE_IMAGE) is None
    assert planned(video_facts(frame_rate=15.0), Role.TRAINING_VIDEO) is None


def test_a_still_gets_one_plan_that_answers_every_check(image_facts):
    facts = image_facts(format="heic", orientation=6, has_alpha=True, base64_chars=30_000_000)
    repair = planned(facts, Role.FACE_IMAGE)
    assert fixes(repair) == {
        "convert": ("image_training_format",),
        "orient": ("image_upright",),
        "flatten": ("image_alpha",),
        "fit_base64": ("image_base64_length",),
    }
    assert repair.max_base64_chars == 29_360_128
    assert repair.max_side_px == 4096
    assert not repair.png


def test_what_a_portrait_asks_for_is_planned_too(image_facts):
    pose = FLAWLESS.subject.pose.model_copy(update={"roll_deg": 18.0})
    subject = FLAWLESS.subject.model_copy(update={"pose": pose})
    leaning = FLAWLESS.model_copy(update={"subject": subject})
    repair = planned(image_facts().model_copy(update={"portrait": leaning}), Role.FACE_IMAGE)
    assert fixes(repair)["level"] == ("head_level",)
    assert repair.level_deg == -18.0


def test_a_lossless_still_may_stay_lossless(image_facts):
    repair = planned(image_facts(format="png", has_alpha=True), Role.FACE_IMAGE)
    assert repair.png


@pytest.mark.parametrize(
    ("codec", "copies"), [("aac", True), ("mp3", True), ("opus", True), ("ac3", False)]
)
def test_the_sound_of_a_video_is_copied_where_a_container_takes_its_codec(
    video_facts, audio_facts, codec, copies
):
    facts = video_facts(audio=audio_facts(codec=codec).recording)
    repair = planned(facts, Role.VOICE_AUDIO)
    assert fixes(repair) == {"extract": ("audio_only",)}
    assert repair.copies is copies


def test_a_video_is_remuxed_without_encoding_where_only_the_container_is_wrong(video_facts):
    repair = planned(video_facts(moov_position="end"), Role.TRAINING_VIDEO)
    assert fixes(repair) == {"remux": ("video_faststart",)}
    assert (repair.copy_video, repair.copy_audio) == (True, True)


def test_streams_that_nobody_looked_at_are_left_behind(video_facts, audio_facts):
    repair = planned(video_facts(other_streams=2), Role.TRAINING_VIDEO)
    assert fixes(repair) == {"remux": ("single_streams",)}
    assert (repair.copy_video, repair.copy_audio) == (True, True)
    stream = audio_facts().recording.stream
    both = audio_facts(streams=(stream, stream.model_copy(update={"index": 1})))
    repair = planned(both, Role.VOICE_AUDIO)
    assert isinstance(repair, VoicePlan)
    assert fixes(repair)["extract"] == ("single_streams",)
    assert planned(audio_facts(), Role.VOICE_AUDIO) is None


def test_of_joined_recordings_none_is_lost_and_no_gap_of_hours_is_written(video_facts, audio_facts):
    assert planned(video_facts(moov_position="end", joined=True), Role.TRAINING_VIDEO) is None
    seconds = audio_facts().recording.duration_s
    twice = {"presented": Span(start_s=0.0, end_s=seconds), "decoded_s": 2 * seconds}
    once = twice | {"decoded_s": seconds}
    gaping = once | {"presented": Span(start_s=0.0, end_s=36_000.0)}
    stream = audio_facts().recording.stream
    more = {"streams": (stream, stream.model_copy(update={"index": 1}))}
    spans = [
        getattr(planned(audio_facts(**more, **each), Role.VOICE_AUDIO), "spans", ())
        for each in (once, twice, gaping)
    ]
    assert [[span.start_s for span in each] for each in spans] == [[], [0.0], [0.0]]


def test_only_the_stream_that_is_wrong_is_encoded(video_facts):
    repair = planned(video_facts(codec="hevc"), Role.TRAINING_VIDEO)
    assert (repair.copy_video, repair.copy_audio) == (False, True)


def test_an_unreadable_file_cannot_be_planned_for():
    error = ReportError(code="media_damaged", message="no")
    assert plan(Report(path="x", role=None, profile="core-4", error=error), PROFILE) is None
